import { Fault, within } from '@pm/kit/fault';
import { rules } from '@pm/schemas/log/log-rules';
import { noOwner } from '@pm/schemas/log/orders';
import { ChangeSignal } from './change-signal.io.ts';
import { ClaimPolicy, type ClaimRules, type Ownership } from './claim-policy.ts';
import { CopyReading, type OpenCopies } from './copy-reading.io.ts';
import {
  ExecutionWriter,
  type ExecutionWriterParts,
  type OutputSlice,
} from './execution-writer.io.ts';
import { OutputPlaces } from './output-places.io.ts';
import type { RecordProcessor } from './record-processor.ts';
import type { ProcessedSlice } from './slices.io.ts';
import type { SnapshotSchedule } from './snapshot-schedule.io.ts';
import type { StoredExecutions } from './stored-executions.io.ts';
import type { TickPublisher } from './tick-publisher.io.ts';
import { defaultUnseenLimits, type UnseenLimits, UnseenOutputs } from './unseen-outputs.ts';

export type Role = 'owner' | 'standby';

/** Where the replica is placed and what decides about claims; the same for all replicas of a process. */
export interface ReplicaSettings {
  /** Random id of this process. */
  readonly ownerId: Buffer;
  readonly claims: ClaimRules;
  readonly unseen?: UnseenLimits;
  /** Whether a partition is placed here first. */
  isPreferred(partition: number): boolean;
  /** As of the group, milliseconds of the monotonic clock. */
  readThroughMs(partition: number): number;
}

export interface ReplicaParts extends ReplicaSettings {
  readonly partition: number;
  readonly processor: RecordProcessor;
  readonly snapshots: SnapshotSchedule;
  readonly executions: StoredExecutions;
  readonly writer: Omit<ExecutionWriterParts, 'places' | 'onStored' | 'onFault'>;
  readonly ticks: TickPublisher;
  /** Offset of `executions` after the last output that is known to be stored. */
  readonly nextOut: number;
  readonly clock: { nowMs(): number; monotonicMs(): number };
  openCopies: OpenCopies;
  /** The outputs of a slice are stored, by this replica as the owner or by another one; a send took `tookMs`. */
  onStored(slice: OutputSlice, lastOffset: number, by: Role, tookMs: number): void;
  onRole(role: Role): void;
  onClaim(ownership: Ownership): void;
  onCopies(count: number): void;
  onFault(error: unknown): void;
}

/** Longest wait for the claim that resigns, milliseconds. */
const resignMs = 2_000;

/** Longest wait for the end of `executions`, milliseconds. */
const boundsMs = 1_000;

/** An owner that stores ticks for so long and applies no record gives the partition up, milliseconds. */
export const stillMaxMs = 5_000;

/**
 * One replica of a live partition. As the owner it writes its outputs; as the standby it keeps them until it has seen
 * their copies, which it compares, and claims the partition when the owner is silent. Which of both it is follows from
 * the records that it has processed (docs/decisions.md, "The log decides who owns a partition").
 */
export class Replica {
  readonly #parts: ReplicaParts;
  readonly #policy: ClaimPolicy;
  readonly #unseen: UnseenOutputs<OutputSlice>;
  #writer: { readonly executions: ExecutionWriter; readonly places: OutputPlaces } | null = null;
  #reading: CopyReading | null = null;
  #nextOut: number;
  /** Offset of the input after the last one that was taken; the processor is ahead while it computes a slice. */
  #nextInput: number;
  #term: number;
  /** A claim that is stored, and may not be processed yet. */
  #claim: { readonly term: number; readonly offset: number } | null = null;
  #isClaiming = false;
  #blockedSinceMs = Number.POSITIVE_INFINITY;
  /** Since when outputs have waited for their copies, and none was seen. */
  #unstoredSinceMs = Number.POSITIVE_INFINITY;
  /** Processing waits for the writer. */
  #isStoring = false;
  #hasEnded = false;
  #waits = true;
  readonly #changes = new ChangeSignal();

  constructor(parts: ReplicaParts) {
    this.#parts = parts;
    const { processor, clock, claims, ticks, unseen = defaultUnseenLimits } = parts;
    const { timeMs, term } = processor.engine;
    ticks.unread.reopened();
    ticks.applied({ nextOffset: processor.nextOffset, acceptedAtMs: 0 }, processor.engine);
    this.#unseen = new UnseenOutputs(unseen);
    this.#nextOut = parts.nextOut;
    this.#nextInput = processor.nextOffset;
    this.#term = term;
    this.#policy = new ClaimPolicy(claims, clock.monotonicMs(), clock.nowMs() - timeMs);
    this.#takeRole();
  }

  /** By the records that were processed; an owner whose claim is stored, too. */
  get role(): Role {
    return this.#isOwner() ? 'owner' : 'standby';
  }

  get queuedSlices(): number {
    return this.#writer?.executions.queuedSlices ?? 0;
  }

  /** Outputs that are kept until their copies are seen. */
  get unseenOutputs(): number {
    return this.#unseen.outputs;
  }

  /**
   * For an owner: time since the newest of its ticks that it has read again was sent, milliseconds; 0 without ticks.
   */
  get tickAgeMs(): number {
    const { ticks, clock } = this.#parts;
    return this.#isOwner() ? ticks.unread.ageMs(clock.monotonicMs()) : 0;
  }

  /** Resolves when the outputs are handed to the writer, or kept. Throws the failure of an earlier send. */
  async take(slice: ProcessedSlice): Promise<void> {
    this.#hear(slice);
    if (this.#parts.processor.engine.awaitsTick) this.tick();
    const { processor, snapshots } = this.#parts;
    const { outputs, rejected } = slice;
    const snapshot = snapshots.afterSlice(processor, slice, this.role === 'owner');
    if (this.isStored) this.#unstoredSinceMs = this.#parts.clock.monotonicMs();
    this.#unseen.push({ outputs, rejected, snapshot });
    this.#nextInput = (outputs.at(-1)?.inOffset ?? this.#nextInput - 1) + 1;
    this.#reading?.onOutputs();
    while (!this.#hasEnded) {
      this.#takeRole();
      if (this.#writer !== null) return this.#write(this.#writer.executions);
      if (this.#unseen.hasRoom || !this.#waits) return;
      await this.#blocked();
    }
  }

  /**
   * Appends a tick of the owner when one is due. Before its claim is processed it has no term to tick with. Gives the
   * partition up with `ticks_not_read` (release) when its ticks do not come back; an output that cannot be stored has
   * limits of its own.
   */
  tick(): void {
    const { ticks, processor } = this.#parts;
    if (!this.#isOwner()) {
      ticks.unread.end();
      return;
    }
    const { engine } = processor;
    const hasTerm = engine.rules < rules.ownerTerms || this.#ownership() === 'here';
    if (hasTerm) void this.#publishDue();
    if (this.#writer === null) this.#changes.give();
    if (ticks.unread.stillMs >= stillMaxMs && !this.#isStoring) this.#giveUp();
  }

  /** A tick may be read before it is known to be stored: orders that were held behind it wait for no other moment. */
  async #publishDue(): Promise<void> {
    const { ticks, processor } = this.#parts;
    const isStored = await ticks.publishDue(processor.engine);
    if (isStored && processor.engine.awaitsTick && !this.#hasEnded) this.tick();
  }

  /** Claims the partition when that is due. */
  async claimIfDue(): Promise<void> {
    const { partition, clock, isPreferred, readThroughMs, processor } = this.#parts;
    const { engine } = processor;
    if (this.#isClaiming || this.#hasEnded || engine.rules < rules.ownerTerms) return;
    const [nowMs, ownership] = [clock.monotonicMs(), this.#ownership()];
    const view = {
      nowMs,
      readThroughMs: readThroughMs(partition),
      ownership,
      isPreferred: isPreferred(partition),
      blockedSinceMs: this.#blockedSinceMs,
      unstoredSinceMs: this.isStored ? Number.POSITIVE_INFINITY : this.#unstoredSinceMs,
    };
    const isDue = this.#policy.isDue(view);
    if (!isDue && !this.#policy.isDueIfUnstored(view)) return;
    this.#isClaiming = true;
    if (isDue || (await this.#isNothingStored())) {
      this.#policy.sent(nowMs);
      await this.#sendClaim(ownership);
    }
    this.#isClaiming = false;
  }

  /** Resolves when all outputs of the owner are stored, and the partition belongs to no process. */
  async resign(): Promise<void> {
    const { ticks, processor } = this.#parts;
    await this.stored();
    if (this.#ownership() !== 'here') return;
    const resigning = ticks.claim(processor.engine, noOwner);
    await within(resigning, resignMs, () => new Error('late')).catch(() => {});
  }

  /** Whether every output is known to be stored. */
  get isStored(): boolean {
    return this.#unseen.first === null;
  }

  /** Resolves when the outputs that were sent are stored; throws the failure of the first that are not. */
  async stored(): Promise<void> {
    await this.#writer?.executions.stored();
  }

  /** From now on it waits for no room: the replica will be stopped. */
  stopWaiting(): void {
    this.#waits = false;
    this.#changes.give();
  }

  /** Reads and keeps nothing any more. */
  end(): void {
    this.#hasEnded = true;
    this.#reading?.end();
    this.#changes.give();
  }

  /** Whoever reads the resignation may claim; this process may, too, when it has been restored. */
  #giveUp(): void {
    const { ticks, processor, partition, onFault } = this.#parts;
    if (this.#ownership() === 'here') void ticks.claim(processor.engine, noOwner);
    const facts = { partition, nextOffset: processor.nextOffset };
    onFault(new Fault('ticks_not_read', 'release', { facts }));
  }

  /** Whether the log has no output that was not read. If it has, the reader has missed it, and is opened again. */
  async #isNothingStored(): Promise<boolean> {
    const { executions, clock } = this.#parts;
    const late = () => new Fault('bounds_late', 'retry', { facts: { boundsMs } });
    const bounds = await within(executions.bounds(), boundsMs, late).catch(() => null);
    const reading = this.#reading;
    if (bounds === null || reading === null || bounds.high > reading.next) {
      this.#unstoredSinceMs = clock.monotonicMs();
      if (bounds !== null) reading?.reopen();
      return false;
    }
    return true;
  }

  async #sendClaim(ownership: Ownership): Promise<void> {
    const { ticks, processor, ownerId, onClaim } = this.#parts;
    const term = processor.engine.term + 1;
    const offset = await ticks.claim(processor.engine, ownerId);
    if (offset === null) return;
    onClaim(ownership);
    this.#claim = { term, offset };
    this.#changes.give();
  }

  #ownership(): Ownership {
    const { owner, term } = this.#parts.processor.engine;
    if (owner.equals(this.#parts.ownerId)) return 'here';
    if (!owner.equals(noOwner)) return 'elsewhere';
    return term === 0 ? 'none' : 'resigned';
  }

  /** Until a stored claim is processed its sender writes: what it keeps has a bound, and it could never process it. */
  #isOwner(): boolean {
    const { processor, isPreferred, partition } = this.#parts;
    const { engine, nextOffset } = processor;
    if (engine.rules < rules.ownerTerms) return isPreferred(partition);
    if (this.#ownership() === 'here') return true;
    const claim = this.#claim;
    return claim !== null && nextOffset <= claim.offset && engine.term < claim.term;
  }

  #hear({ outputs }: ProcessedSlice): void {
    const { clock, processor, ticks } = this.#parts;
    const nextOffset = (outputs.at(-1)?.inOffset ?? -1) + 1;
    const newest = outputs.findLast(({ acceptedAtMs }) => acceptedAtMs > 0);
    ticks.applied({ nextOffset, acceptedAtMs: newest?.acceptedAtMs ?? 0 }, processor.engine);
    if (outputs.some(({ ofOwner }) => ofOwner)) this.#policy.heard(clock.monotonicMs());
    if (processor.engine.term === this.#term) return;
    this.#term = processor.engine.term;
    this.#policy.changed(clock.monotonicMs());
  }

  #takeRole(): void {
    if (this.#isOwner()) this.#beginWriting();
    else this.#beginReading();
  }

  #beginWriting(): void {
    if (this.#writer !== null) return;
    const { partition, writer, executions, processor, onCopies, onRole } = this.#parts;
    this.#nextOut = this.#reading?.end() ?? this.#nextOut;
    this.#reading = null;
    const places = new OutputPlaces({
      topic: writer.topic,
      partition,
      executions,
      next: this.#nextOut,
      hasTerms: () => processor.engine.rules >= rules.ownerTerms,
      onCopies,
    });
    const own = new ExecutionWriter({
      ...writer,
      places,
      onStored: (slice, lastOffset, tookMs) => this.#stored(slice, lastOffset, 'owner', tookMs),
      onFault: (error) => this.#parts.onFault(error),
    });
    this.#writer = { executions: own, places };
    onRole('owner');
  }

  /**
   * Begins to read the stored outputs. Outputs of a former owner that are not known to be stored are put back: another
   * owner writes them, or has done so.
   */
  #beginReading(): void {
    if (this.#reading !== null || this.#hasEnded) return;
    const { executions, openCopies, onRole, onCopies, onFault } = this.#parts;
    if (this.#writer !== null) {
      this.#unseen.putBack(this.#writer.executions.retire());
      this.#nextOut = this.#writer.places.next;
      this.#writer = null;
    }
    this.#reading = new CopyReading({
      from: this.#nextOut,
      unseen: this.#unseen,
      executions,
      open: openCopies,
      nextInput: () => this.#nextInput,
      onSeen: (slice, offset) => this.#seen(slice, offset),
      onCopies,
      onFault,
    });
    onRole('standby');
  }

  async #write(writer: ExecutionWriter): Promise<void> {
    this.#isStoring = true;
    try {
      for (let next = this.#unseen.take(); next !== null; next = this.#unseen.take())
        await writer.push(next);
    } finally {
      this.#isStoring = false;
    }
  }

  /** Resolves when something has changed. */
  async #blocked(): Promise<void> {
    this.#blockedSinceMs = this.#parts.clock.monotonicMs();
    await this.#changes.next();
    this.#blockedSinceMs = Number.POSITIVE_INFINITY;
  }

  /** A copy was seen; the last one of a slice gives the slice. */
  #seen(slice: OutputSlice | null, offset: number): void {
    this.#unstoredSinceMs = this.#parts.clock.monotonicMs();
    this.#policy.stored();
    this.#changes.give();
    if (slice !== null) this.#stored(slice, offset, 'standby', 0);
  }

  #stored(slice: OutputSlice, lastOffset: number, by: Role, tookMs: number): void {
    const { snapshots, onStored } = this.#parts;
    onStored(slice, lastOffset, by, tookMs);
    if (slice.snapshot !== null) snapshots.save(slice.snapshot);
  }
}
