import { Fault } from '@pm/kit/fault';
import type {
  GroupOptions,
  LogAdmin,
  LogClient,
  LogReader,
  PartitionGroup,
  ReaderOptions,
  RecordBatch,
} from '@pm/kit/kafka';
import { silentLog } from '@pm/kit/log';
import { defaultLimits } from '../../../kit/src/kafka/limits.ts';
import { OwnedPartition } from '../../../kit/src/kafka/owned-partition.io.ts';
import { type LaneOptions, PartitionLane } from '../../../kit/src/kafka/partition-lane.io.ts';
import { LaneProducer } from '../../../kit/src/kafka/producer.io.ts';
import type { Machine } from '../time/machine.ts';
import type { Brokers, Fetched } from './brokers.ts';
import type { Committed, Member, ModelGroups } from './model-groups.ts';
import { openModelWire } from './model-wire.ts';

export interface ClientParts {
  readonly machine: Machine;
  readonly brokers: Brokers;
  readonly groups: ModelGroups;
}

/** Time limits of sends, milliseconds: short ones leave more outcomes unknown. */
const sendTimeoutsMs = [1_000, 2_500, 8_000];

const request = {
  timeoutMs: 3_000,
  late: () => new Fault('log_unavailable', 'retry'),
};

/** The log client of a machine: producer, lanes and owned partitions of the kit over models of brokers and groups. */
export function openModelClient(parts: ClientParts): LogClient {
  const { machine, brokers } = parts;
  const admin = {
    bounds: (topic: string) =>
      machine.request(request, (answer: { resolve(found: Bounds): void }) => {
        const logs = brokers.partitions(topic);
        answer.resolve(
          new Map(logs.map((log) => [log.partition, { low: 0, high: log.highWatermark }])),
        );
      }),
    close: async () => {},
  } as unknown as LogAdmin;
  return {
    producer: async () => {
      const wire = openModelWire(machine, brokers);
      const sendTimeoutMs = machine.scheduler.random.pick(sendTimeoutsMs);
      const limits = { ...defaultLimits, sendTimeoutMs };
      return new LaneProducer({ limits, log: silentLog, wire });
    },
    reader: async (options) => new ModelReader(parts, options),
    group: async (options) => new ModelGroup(parts, options),
    admin: async () => admin,
    close: async () => {},
  };
}

const buffer = { maxBufferedBytes: 4 << 20, maxBufferedRecords: 2_000 };

type Bounds = Map<number, { low: number; high: number }>;

/** Fetches for the lanes of one reader, one request at a time. */
class FetchLoop {
  readonly lanes = new Map<number, PartitionLane>();
  readonly #parts: ClientParts;
  readonly #topic: string;
  readonly #waits: { readonly maxWaitMs: number; readonly restMs: number };
  #isRunning = false;
  isClosed = false;

  constructor(parts: ClientParts, topic: string, waits: { maxWaitMs: number; restMs: number }) {
    this.#parts = parts;
    this.#topic = topic;
    this.#waits = waits;
  }

  /** Reads one more partition from the next wake on. */
  addLane(
    lane: Pick<LaneOptions, 'partition' | 'from' | 'dense' | 'onBatch' | 'onFault'>,
  ): PartitionLane {
    const opened = new PartitionLane({
      ...lane,
      topic: this.#topic,
      ...buffer,
      mayDeliver: () => true,
      onRoom: () => this.wake(),
    });
    this.lanes.set(lane.partition, opened);
    return opened;
  }

  async removeLane(lane: PartitionLane): Promise<void> {
    if (this.lanes.get(lane.partition) === lane) this.lanes.delete(lane.partition);
    await lane.close();
  }

  wake(): void {
    if (this.#isRunning || this.isClosed) return;
    this.#isRunning = true;
    void this.#fetch().finally(() => {
      this.#isRunning = false;
      if (this.#wanted().length > 0) this.wake();
    });
  }

  #wanted() {
    return [...this.lanes.values()]
      .filter((lane) => lane.open && lane.hasRoom())
      .map((lane) => ({ partition: lane.partition, from: lane.fetchPosition }));
  }

  async #fetch(): Promise<void> {
    const { machine, brokers } = this.#parts;
    const { maxWaitMs, restMs } = this.#waits;
    const wanted = this.#wanted();
    const askedMs = machine.clock.monotonicMs();
    const fetched = await machine
      .request<Fetched[]>({ ...request, timeoutMs: 2_000 }, (answer) =>
        brokers.fetch(this.#topic, wanted, { maxWaitMs, answer }),
      )
      .catch(() => []);
    for (const one of fetched) this.#accept(one, askedMs);
    await machine.sleep(Math.max(1, restMs));
  }

  #accept({ partition, from, records, highWatermark }: Fetched, askedMs: number): void {
    const lane = this.lanes.get(partition);
    if (lane === undefined) return;
    if (from > highWatermark) {
      lane.fail('offset_out_of_range', { from, high: highWatermark });
      return;
    }
    const nextOffset = from + records.length;
    const response = { topic: this.#topic, partition, from, records, nextOffset, highWatermark };
    lane.answered(this.#parts.machine.clock.monotonicMs());
    lane.accept(response, askedMs);
  }
}

class ModelReader implements LogReader {
  readonly #loop: FetchLoop;

  constructor(parts: ClientParts, options: ReaderOptions) {
    const { topic, positions, dense, restMs = 0, maxWaitMs = 500 } = options;
    this.#loop = new FetchLoop(parts, topic, { maxWaitMs, restMs });
    for (const [partition, from] of positions) {
      const onBatch = (batch: RecordBatch) => options.onBatch(batch);
      const onFault = (fault: Fault) => options.onFault(fault);
      this.#loop.addLane({ partition, from, dense, onBatch, onFault });
    }
    this.#loop.wake();
  }

  position(partition: number): number {
    return this.#loop.lanes.get(partition)?.position ?? 0;
  }

  lagRecords(partition: number): number {
    return this.#loop.lanes.get(partition)?.lagRecords ?? 0;
  }

  answeredMs(partition: number): number {
    return this.#loop.lanes.get(partition)?.answeredMs ?? Number.NEGATIVE_INFINITY;
  }

  atEndMs(partition: number): number {
    return this.#loop.lanes.get(partition)?.atEndMs ?? Number.NEGATIVE_INFINITY;
  }

  async share(): Promise<void> {}

  hurry(): void {}

  async close(): Promise<void> {
    this.#loop.isClosed = true;
    for (const lane of this.#loop.lanes.values()) await lane.close();
  }
}

/**
 * A member that holds on to its partitions until it hears of its eviction, however late that is; and, where the group
 * only places replicas, until the next placement.
 */
class ModelGroup implements PartitionGroup {
  readonly #parts: ClientParts;
  readonly #options: GroupOptions;
  readonly #loop: FetchLoop;
  readonly #owned = new Map<number, OwnedPartition>();
  /** Ends of earlier ownerships. */
  readonly #ending = new Map<number, Promise<void>>();
  #preferred: readonly number[] = [];
  #id = -1;

  constructor(parts: ClientParts, options: GroupOptions) {
    this.#parts = parts;
    this.#options = options;
    const { topic, restMs = 0 } = options;
    const { maxWaitMs = 500 } = options;
    this.#loop = new FetchLoop(parts, topic, { maxWaitMs, restMs });
    this.#join();
  }

  get memberId(): string | null {
    return this.#id < 0 ? null : String(this.#id);
  }

  owned(): readonly number[] {
    return [...this.#owned.keys()];
  }

  isPreferred(partition: number): boolean {
    return this.#preferred.includes(partition);
  }

  readThroughMs(partition: number): number {
    return this.#loop.lanes.get(partition)?.readThroughMs ?? Number.NEGATIVE_INFINITY;
  }

  answeredMs(partition: number): number {
    return this.#loop.lanes.get(partition)?.answeredMs ?? Number.NEGATIVE_INFINITY;
  }

  commit(partition: number, offset: number, metadata: string): Promise<void> {
    const { machine, groups } = this.#parts;
    const late = () => new Fault('commit_outcome_unknown', 'release');
    return machine.request<void>({ timeoutMs: 4_000, late }, (answer) =>
      groups.commit(
        this.#options.groupId,
        { member: this.#id, partition, offset, metadata },
        answer,
      ),
    );
  }

  committed(partition: number): Promise<Committed | null> {
    const { machine, groups } = this.#parts;
    return machine.request<Committed | null>(request, (answer) =>
      answer.resolve(groups.committed(this.#options.groupId, partition)),
    );
  }

  release(partition: number): void {
    this.#owned.get(partition)?.pause();
  }

  async restore(partition: number): Promise<void> {
    await this.#owned.get(partition)?.restore();
  }

  async close(): Promise<void> {
    this.#loop.isClosed = true;
    this.#parts.groups.leave(this.#options.groupId, this.#id);
    for (const partition of this.owned()) await this.#end(partition);
  }

  #join(): void {
    const { machine, brokers, groups } = this.#parts;
    const { groupId, topic, standbyTopic } = this.#options;
    const id = groups.nextMemberId();
    const takesStandbys = standbyTopic !== undefined;
    const member: Member = {
      id,
      machine,
      takesStandbys,
      assigned: (partitions, standbys) => this.#assigned(partitions, standbys),
      evicted: () => {
        if (!takesStandbys) for (const partition of this.owned()) void this.#end(partition);
        this.#join();
      },
    };
    machine
      .request<void>(request, (answer) => {
        if (machine.isAlive) groups.join(groupId, brokers.partitions(topic).length, member);
        answer.resolve();
      })
      .catch(() => {});
    this.#id = id;
  }

  #assigned(partitions: readonly number[], standbys: readonly number[]): void {
    const all = [...partitions, ...standbys];
    this.#preferred = partitions;
    for (const partition of this.owned()) if (!all.includes(partition)) void this.#end(partition);
    for (const partition of all) if (!this.#owned.has(partition)) this.#begin(partition);
  }

  async #end(partition: number): Promise<void> {
    const owned = this.#owned.get(partition);
    this.#owned.delete(partition);
    const ending = owned?.revoke().catch(() => {}) ?? Promise.resolve();
    this.#ending.set(partition, ending);
    await ending;
  }

  #begin(partition: number): void {
    const { dense, onAssigned, onRevoked, onBatch, onFault } = this.#options;
    const hooks = {
      onAssigned: async () => {
        const from = await onAssigned(partition);
        return from === 'committed' ? 0 : from;
      },
      onRevoked: () => onRevoked(partition),
      open: async (from: number) => {
        const lane = this.#loop.addLane({
          partition,
          from,
          dense,
          onBatch: (batch) => onBatch(batch),
          onFault: (fault) => onFault(fault, partition),
        });
        this.#loop.wake();
        return lane;
      },
      remove: (lane: PartitionLane) => this.#loop.removeLane(lane),
      onFault: (fault: Fault) => onFault(fault, partition),
    };
    const ready = this.#ending.get(partition) ?? Promise.resolve();
    this.#owned.set(partition, new OwnedPartition(partition, hooks, ready));
  }
}
