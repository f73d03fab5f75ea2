import type { Random } from '@pm/kit/random';
import type { BrokerServer } from './broker-server.ts';
import type { ClientProcess, Habits } from './client-process.ts';
import type { Cluster } from './cluster.ts';
import { sessionMs } from './limits.ts';
import type { MemoryNetwork } from './memory-network.ts';
import type { Observer } from './observer.ts';
import type { WireFaults } from './wire-faults.ts';

/** Parts of the simulation that an episode disturbs. */
export interface Disturbed {
  readonly random: Random;
  readonly cluster: Cluster;
  readonly network: MemoryNetwork;
  readonly faults: WireFaults;
  readonly observer: Observer;
  readonly server: BrokerServer;
  readonly habits: Habits;
  processes(): readonly ClientProcess[];
  /** Nothing begins any more. */
  isCalm(): boolean;
  /** Ends a process, in order or not, and starts another one. */
  replace(process: ClientProcess, isKilled: boolean): void;
}

/** Something that goes wrong at one moment. */
type Event = (world: Disturbed) => void;

const after = ({ cluster }: Disturbed, ms: number, run: () => void) =>
  void cluster.scheduler.after(ms, null, run);

const storageError = 56;

/** A random partition; partitions that all processes read are chosen more often. */
const partitionOf = ({ random, cluster }: Disturbed) =>
  random.pick(
    random.chance(0.5) ? cluster.partitionsOf('events') : [...cluster.partitions.values()],
  );

/** Kinds of events; a run has a few of them only, so that each gets to happen alone. */
const events: Readonly<Record<string, Event>> = {
  'a leader moves': (world) => {
    const sound = world.cluster.nodes.filter((node) => node.isSound);
    if (sound.length > 0) world.cluster.elect(partitionOf(world), world.random.pick(sound).id);
  },
  'all leaders move': (world) => {
    const sound = world.cluster.nodes.filter((node) => node.isSound);
    for (const one of world.cluster.partitions.values())
      if (sound.length > 0) world.cluster.elect(one, world.random.pick(sound).id);
  },
  'the coordinator moves': (world) => {
    const sound = world.cluster.nodes.filter((node) => node.isSound);
    if (sound.length > 0) world.cluster.moveCoordinator(world.random.pick(sound).id);
  },
  'the coordinator stands still': ({ cluster, random }) => {
    const node = cluster.node(cluster.coordinator);
    if (node.isSound) cluster.stall(node, 500 + random.below(11_000));
  },
  'a broker hangs': (world) => outage(world, (node) => node.hang(), 16_000),
  'a broker dies': (world) => outage(world, (node) => node.die(), 5_000),
  'a broker is cut off': (world) =>
    outage(
      world,
      (node) => {
        node.isIsolated = true;
      },
      14_000,
    ),
  'a process stands still': (world) => {
    const { random } = world;
    const ms = 100 + random.below(random.chance(0.3) ? 4_000 : 1_700);
    random.pick(world.processes()).machine.pause(ms);
  },
  'a wall clock is set': (world) => {
    const { random } = world;
    const byMs = random.pick([1_000, 10_000, 3_600_000]) * (random.chance(0.7) ? -1 : 1);
    random.pick(world.processes()).machine.setClock(byMs);
  },
  'a process ends': (world) => world.replace(world.random.pick(world.processes()), false),
  'a process is killed': (world) => world.replace(world.random.pick(world.processes()), true),
  'a partition cannot be read': (world) => {
    const ms = 500 + world.random.below(14_000);
    world.cluster.breakPartition(partitionOf(world), storageError, ms);
  },
  'two brokers name each other': (world) =>
    world.cluster.dispute(partitionOf(world), 500 + world.random.below(14_000)),
  'an application restores': (world) => {
    const { random } = world;
    random.pick(world.processes()).restore(random.below(3), 1 + random.below(3));
  },
  'a heartbeat is late': ({ faults, random, observer, cluster }) => {
    faults.heartbeatLateMs = sessionMs * (0.7 + random.next() * 0.35);
    const untilMs = cluster.scheduler.nowMs + 2 * sessionMs;
    observer.heartbeatTroubledMs = Math.max(observer.heartbeatTroubledMs, untilMs);
  },
  'a process ends before it may write': (world) => {
    const { faults, random, observer, cluster } = world;
    const [former] = world.processes();
    if (former === undefined || faults.noProducerIds) return;
    faults.noProducerIds = true;
    observer.writeTroubledMs = cluster.scheduler.nowMs + 6_000;
    world.replace(former, false);
    const [process] = world.processes();
    const silentMs = 300 + random.below(1_200);
    after(world, silentMs, () => {
      if (!world.isCalm()) silence(world, 6_000);
    });
    after(world, silentMs + 300 + random.below(1_500), () => {
      if (process !== undefined && !world.isCalm()) world.replace(process, false);
    });
    after(world, 6_000, () => {
      faults.noProducerIds = false;
    });
  },
  'no broker answers': (world) => silence(world, 300 + world.random.below(3_000)),
  'no broker answers for long': (world) => silence(world, 8_000 + world.random.below(4_000)),
  'requests go wrong': (world) => {
    const { faults, random, observer, cluster } = world;
    const ms = 500 + random.below(5_000);
    faults.share = random.pick([0.02, 0.1, 0.3]);
    faults.errors = random.pick([0, 0, 0.05, 0.2]);
    observer.wireTroubledMs = Math.max(observer.wireTroubledMs, cluster.scheduler.nowMs + ms + 500);
    after(world, ms, () => {
      faults.share = 0;
      faults.errors = 0;
    });
  },
  'the network is slow': (world) => {
    const { network, observer, cluster, random } = world;
    network.delayMs = random.pick([50, 300, 900]);
    const ms = 500 + random.below(4_000);
    observer.wireTroubledMs = Math.max(observer.wireTroubledMs, cluster.scheduler.nowMs + ms + 500);
    after(world, ms, () => {
      network.delayMs = 2;
    });
  },
};

/** All brokers hang for so long. */
function silence(world: Disturbed, ms: number): void {
  const sound = world.cluster.nodes.filter((node) => node.isSound);
  for (const node of sound) node.hang();
  for (const node of sound) world.cluster.lost(node);
  after(world, ms, () => {
    for (const node of sound) if (!node.isSound) world.cluster.heal(node);
  });
}

function outage(
  world: Disturbed,
  begin: (node: Cluster['nodes'][number]) => void,
  longestMs: number,
): void {
  const { cluster, random } = world;
  const node = random.pick(cluster.nodes);
  if (!node.isSound) return;
  // Rarely two at a time.
  if (cluster.nodes.some((one) => !one.isSound) && random.chance(0.8)) return;
  begin(node);
  cluster.lost(node);
  after(world, 200 + random.below(longestMs), () => {
    if (!node.isSound) cluster.heal(node);
  });
}

/** Kinds that belong together: what is rare needs several things at about the same time. */
const scenes: readonly (readonly string[])[] = [
  ['a leader moves', 'the network is slow'],
  ['a leader moves', 'requests go wrong'],
  ['a heartbeat is late'],
  ['a broker hangs'],
  ['a broker is cut off', 'a leader moves'],
  ['the coordinator moves', 'requests go wrong'],
  ['a process ends before it may write'],
];

/** Plans events of a few kinds, or of the given ones, up to a moment. */
export function planEpisode(
  world: Disturbed,
  forMs: number,
  given: readonly string[] | undefined,
): readonly string[] {
  const { random, habits } = world;
  const all = Object.keys(events);
  const few = Array.from({ length: 1 + random.below(3) }, () => random.pick(all));
  const kinds = given ?? (random.chance(0.5) ? random.pick(scenes) : few);
  habits.slow = random.pick([0, 0, 0.02, 0.2]);
  habits.perRecordMs = random.pick(kinds.includes('a heartbeat is late') ? [90] : [0, 0, 90]);
  habits.failing = random.pick([0, 0, 0.01, 0.05]);
  const meanMs = random.pick([400, 1_200, 3_000]);
  for (let atMs = 0; atMs < forMs; atMs += 50 + random.next() * 2 * meanMs) {
    const event = events[random.pick(kinds)];
    after(world, atMs, () => event?.(world));
  }
  return [...new Set(kinds)];
}
