import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ProcessStatus } from '@pm/deploy/local/supervised-process';
import type { RunningStack } from '@pm/deploy/stack/stack';
import type { Brokers } from './brokers.ts';

/** Where a fault happens. */
export interface FaultPlace {
  readonly stack: RunningStack;
  readonly brokers: Brokers;
  readonly dataDir: string;
}

/** Part of the exchange that a fault has hit. */
export interface Hit {
  /** Partitions that it may stop; null for all. */
  readonly partitions: ReadonlySet<number> | null;
}

export interface Scenario {
  readonly name: string;
  /** Resolves when what was away is back, or when others have its work. */
  strike(place: FaultPlace): Promise<Hit>;
  /** Most time without an acknowledged order of the partitions concerned, seconds; null where none is promised. */
  readonly goalSeconds: number | null;
  /** The gap is counted from the end of the fault. */
  readonly fromBack?: true;
  /** Takes minutes: for the command, not for tests. */
  readonly isLong?: true;
}

const pausedMs = 15_000;
const twoDownMs = 10_000;
const longOutageMs = 90_000;
/** Between the kill of a matcher and the restart of a broker: the takeover is under way. */
const takeoverMs = 500;

export const scenarios: readonly Scenario[] = [
  {
    name: 'leader killed',
    goalSeconds: 3,
    async strike(place) {
      const hit = await busiest(place);
      kill(place, hit.name);
      await back(place, hit.name);
      return hit;
    },
  },
  {
    name: 'leader paused 15 s',
    goalSeconds: 3,
    async strike(place) {
      const hit = await busiest(place);
      await pause(place, [hit.name], pausedMs);
      return hit;
    },
  },
  {
    name: 'two of three brokers down 10 s and back',
    goalSeconds: 3,
    fromBack: true,
    async strike(place) {
      await keepDown(place, ['kafka-2', 'kafka-3'], twoDownMs);
      return { partitions: null };
    },
  },
  {
    name: 'broker restarted during a takeover',
    goalSeconds: null,
    async strike(place) {
      const { name } = await busiest(place);
      kill(place, 'matcher');
      await sleep(takeoverMs);
      await place.stack.supervisor.restart(name);
      await back(place, 'matcher');
      return { partitions: null };
    },
  },
  {
    name: 'Redis killed, back with its data',
    goalSeconds: null,
    async strike(place) {
      kill(place, 'redis');
      await back(place, 'redis');
      return { partitions: null };
    },
  },
  {
    name: 'Redis killed, back empty',
    goalSeconds: null,
    async strike(place) {
      // Open files outlive their names: the next Redis finds none.
      rmSync(join(place.dataDir, 'engines/redis/appendonlydir'), { recursive: true, force: true });
      kill(place, 'redis');
      await back(place, 'redis');
      return { partitions: null };
    },
  },
  {
    name: 'ClickHouse killed in an insert',
    goalSeconds: 3,
    async strike(place) {
      kill(place, 'clickhouse');
      await back(place, 'clickhouse');
      return { partitions: null };
    },
  },
  {
    name: 'registry away at a start of all services',
    goalSeconds: null,
    async strike(place) {
      const { supervisor } = place.stack;
      const started = ['matcher', 'projectors', 'ingress', 'query-api', 'streams', 'operator'];
      supervisor.kill('registry', 'SIGSTOP');
      try {
        for (const name of started) kill(place, name);
        // They know the schemas from the log.
        for (const name of started) await back(place, name);
      } finally {
        supervisor.kill('registry', 'SIGCONT');
      }
      return { partitions: null };
    },
  },
  {
    name: 'two of three brokers away for 90 s',
    goalSeconds: 3,
    fromBack: true,
    isLong: true,
    async strike(place) {
      await pause(place, ['kafka-2', 'kafka-3'], longOutageMs);
      return { partitions: null };
    },
  },
];

async function busiest({ brokers }: FaultPlace): Promise<Hit & { readonly name: string }> {
  const leader = await brokers.busiestLeader();
  return { name: `kafka-${leader}`, partitions: await brokers.ledBy(leader) };
}

function kill({ stack }: FaultPlace, name: string): void {
  if (!stack.supervisor.kill(name, 'SIGKILL')) throw new Error(`${name} does not run`);
}

async function pause(
  { stack: { supervisor } }: FaultPlace,
  names: readonly string[],
  ms: number,
): Promise<void> {
  for (const name of names) supervisor.kill(name, 'SIGSTOP');
  await sleep(ms);
  for (const name of names) supervisor.kill(name, 'SIGCONT');
}

/** The supervisor starts again what dies: it is killed again until the time is over. */
async function keepDown(place: FaultPlace, names: readonly string[], ms: number): Promise<void> {
  const untilMs = performance.now() + ms;
  while (performance.now() < untilMs) {
    for (const name of names) place.stack.supervisor.kill(name, 'SIGKILL');
    await sleep(500);
  }
  for (const name of names) await back(place, name);
}

/** Longest wait for a process, and the pause between two looks, milliseconds. */
const waitMaxMs = 240_000;
const lookEveryMs = 100;

async function back(place: FaultPlace, name: string): Promise<void> {
  // Its death is noticed a moment after the signal.
  await sleep(lookEveryMs);
  const isBack = (one: ProcessStatus) => one.name === name && one.state === 'ready';
  await until(place, `${name} is back`, isBack);
}

/** Resolves when it is so of a process. */
async function until(
  { stack: { supervisor } }: FaultPlace,
  what: string,
  isSo: (process: ProcessStatus) => boolean,
): Promise<void> {
  const untilMs = performance.now() + waitMaxMs;
  while (!supervisor.status().some(isSo)) {
    if (performance.now() > untilMs) throw new Error(`not in ${waitMaxMs} ms: ${what}`);
    await sleep(lookEveryMs);
  }
}
