import type { Scheduler } from '../../time/scheduler.ts';
import { ScriptedPartition } from '../scripted-log.ts';

/** Who leads and coordinates, as a broker knows it. */
export interface ClusterView {
  readonly version: number;
  readonly leaders: ReadonlyMap<string, number>;
  readonly coordinator: number;
}

/** `hung`: it takes connections and does nothing. */
export type BrokerState = 'up' | 'hung' | 'down';

/** A broker: what it knows may be older than what is true. */
export class BrokerNode {
  readonly id: number;
  state: BrokerState = 'up';
  /** Cut off from the other brokers, not from processes. */
  isIsolated = false;
  view: ClusterView;
  /** Changes with each start. */
  life = 0;
  #held: (() => void)[] = [];
  /** Ends its connections. */
  onDown: () => void = () => {};

  constructor(id: number, view: ClusterView) {
    this.id = id;
    this.view = view;
  }

  get host(): string {
    return `b${this.id}`;
  }

  get isSound(): boolean {
    return this.state === 'up' && !this.isIsolated;
  }

  /** Does something now, or when it goes on; a broker that has died meanwhile does not. */
  act(run: () => void): void {
    if (this.state === 'up') run();
    else if (this.state === 'hung') this.#held.push(run);
  }

  hang(): void {
    this.state = 'hung';
  }

  die(): void {
    this.state = 'down';
    this.life += 1;
    this.#held = [];
    this.onDown();
  }

  goOn(): void {
    this.state = 'up';
    this.isIsolated = false;
    const held = this.#held;
    this.#held = [];
    for (const run of held) run();
  }
}

/** One partition: what is on the log, and where former leaders saw its end. */
export class ClusterPartition extends ScriptedPartition {
  readonly key: string;
  readonly seenEnds = new Map<number, number>();
  /** Error code with which all fetches of the partition fail; 0 is none. */
  error = 0;
  /** Two brokers that name each other. */
  isDisputed = false;
  /** When each record was appended. */
  readonly appendedMs: number[] = [];
  /** When its leader changed or was not sound, or it could not be read, last. */
  troubledMs = 0;

  constructor(key: string, leader: number) {
    super(leader);
    this.key = key;
  }

  endAt(node: number): number {
    if (this.leader === node) return this.values.length;
    return this.seenEnds.get(node) ?? this.values.length;
  }
}

const topics: Readonly<Record<string, number>> = { orders: 3, events: 2, results: 2, extra: 1 };
const detectMaxMs = 1_200;
const publishMaxMs = 250;

/** Three brokers and the truth about who leads what; elections are clean. */
export class Cluster {
  readonly nodes: readonly BrokerNode[];
  readonly partitions = new Map<string, ClusterPartition>();
  readonly scheduler: Scheduler;
  coordinator = 1;
  coordinatorSinceMs: number;
  /** When the coordinator was not sound last, or moved. */
  coordinatorTroubledMs: number;
  #version = 0;
  /** Called after an append, and when a view changes. */
  onChange: () => void = () => {};
  onCoordinator: (node: number) => void = () => {};

  constructor(scheduler: Scheduler) {
    this.scheduler = scheduler;
    this.coordinatorSinceMs = scheduler.nowMs;
    this.coordinatorTroubledMs = scheduler.nowMs;
    for (const [topic, count] of Object.entries(topics))
      for (let partition = 0; partition < count; partition += 1) {
        const key = `${topic}/${partition}`;
        this.partitions.set(key, new ClusterPartition(key, 1 + scheduler.random.below(3)));
      }
    const view = this.#view();
    this.nodes = [1, 2, 3].map((id) => new BrokerNode(id, view));
  }

  node(id: number): BrokerNode {
    return this.nodes[id - 1] as BrokerNode;
  }

  partition(key: string): ClusterPartition {
    const found = this.partitions.get(key);
    if (found === undefined) throw new Error(`no partition ${key}`);
    return found;
  }

  partitionsOf(topic: string): ClusterPartition[] {
    return [...this.partitions.values()].filter(({ key }) => key.startsWith(`${topic}/`));
  }

  /** The copies of its leader are on the others only while it is sound. */
  mayAppend({ leader }: ClusterPartition): boolean {
    return leader > 0 && this.node(leader).isSound;
  }

  /** Appends a record; false while the partition has no sound leader. */
  append(partition: ClusterPartition, value: string): boolean {
    if (!this.mayAppend(partition)) return false;
    partition.values.push(value);
    partition.appendedMs[partition.values.length - 1] = this.scheduler.nowMs;
    this.onChange();
    return true;
  }

  elect(partition: ClusterPartition, node: number): void {
    if (partition.leader === node) return;
    partition.seenEnds.set(partition.leader, partition.values.length);
    partition.leader = node;
    partition.troubledMs = this.scheduler.nowMs;
    this.#publish();
  }

  moveCoordinator(node: number): void {
    if (this.coordinator === node) return;
    this.coordinator = node;
    this.coordinatorSinceMs = this.scheduler.nowMs;
    this.coordinatorTroubledMs = this.scheduler.nowMs;
    this.onCoordinator(node);
    this.#publish();
  }

  /** Its partitions and groups go to others once that is noticed; `back` says that it is sound again before. */
  lost(node: BrokerNode): void {
    const { random } = this.scheduler;
    this.#troubled(node);
    const noticedMs = 100 + random.below(detectMaxMs);
    this.scheduler.after(noticedMs, null, () => {
      if (node.isSound) return;
      for (const one of this.partitions.values())
        if (one.leader === node.id) this.elect(one, this.#soundOne() ?? -1);
      const other = this.#soundOne();
      if (this.coordinator === node.id && other !== null) this.moveCoordinator(other);
    });
  }

  /** Hangs for a time that the others do not notice: its heartbeats to them go on. */
  stall(node: BrokerNode, ms: number): void {
    this.#troubled(node);
    node.hang();
    this.scheduler.after(ms, null, () => {
      if (!node.isSound) this.heal(node);
    });
  }

  heal(node: BrokerNode): void {
    this.#troubled(node);
    node.goOn();
    for (const one of this.partitions.values()) if (one.leader === -1) this.elect(one, node.id);
    this.#publish();
  }

  /** Each of two brokers names the other as the leader of a partition. */
  dispute(partition: ClusterPartition, ms: number): void {
    partition.isDisputed = true;
    this.scheduler.after(ms, null, () => {
      partition.isDisputed = false;
      partition.troubledMs = this.scheduler.nowMs;
    });
  }

  /** Its leader fails each fetch of it. */
  breakPartition(partition: ClusterPartition, error: number, ms: number): void {
    partition.error = error;
    this.scheduler.after(ms, null, () => {
      partition.error = 0;
      partition.troubledMs = this.scheduler.nowMs;
    });
  }

  /** Since when a partition has had one sound leader that answers, as far as the cluster is concerned; null if not. */
  soundSinceMs({ error, isDisputed, leader, troubledMs }: ClusterPartition): number | null {
    if (error !== 0 || isDisputed || leader < 0 || !this.node(leader).isSound) return null;
    return troubledMs;
  }

  /** Who leads a partition by what a broker says. */
  leaderAt(node: BrokerNode, key: string): number {
    const known = node.view.leaders.get(key) ?? -1;
    const { isDisputed } = this.partition(key);
    return isDisputed && known === node.id ? 1 + (node.id % 3) : known;
  }

  #troubled(node: BrokerNode): void {
    const { nowMs } = this.scheduler;
    if (this.coordinator === node.id) this.coordinatorTroubledMs = nowMs;
    for (const one of this.partitions.values()) if (one.leader === node.id) one.troubledMs = nowMs;
  }

  #soundOne(): number | null {
    const sound = this.nodes.filter((node) => node.isSound);
    return sound.length === 0 ? null : this.scheduler.random.pick(sound).id;
  }

  #view(): ClusterView {
    const leaders = new Map([...this.partitions].map(([key, { leader }]) => [key, leader]));
    return { version: this.#version, leaders, coordinator: this.coordinator };
  }

  /** Brokers learn of changes one after the other; those that are not sound when they are again. */
  #publish(): void {
    this.#version += 1;
    const view = this.#view();
    for (const node of this.nodes)
      this.scheduler.after(this.scheduler.random.below(publishMaxMs), null, () => {
        if (!node.isSound || node.view.version > view.version) return;
        node.view = view;
        this.onChange();
      });
  }
}
