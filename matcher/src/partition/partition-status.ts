import type { PartitionState } from './liveness.ts';
import type { Position } from './record-processor.ts';

/** A partition as `/status` shows it. Offsets are -1 while there is none. */
export interface PartitionStatus {
  readonly partition: number;
  readonly state: PartitionState;
  /** Code of the fault that it failed with and has not recovered from; empty when there is none. */
  readonly fault: string;
  /** The last input that was taken. */
  readonly inOffset: number;
  /** Where the last stored output stands. */
  readonly outOffset: number;
  readonly lagRecords: number;
  /** Clock of the partition, Unix milliseconds. */
  readonly timeMs: number;
  /** When something was last stored or replayed, Unix milliseconds of this machine. */
  readonly lastProgressMs: number;
  /** First input behind the newest snapshot; 0 without one. */
  readonly snapshotOffset: number;
  readonly openOrders: number;
  readonly markets: number;
  /** Chain of the last output, hex; empty while not live. */
  readonly chain: string;
  /** Commands carried out live by this process. */
  readonly commandsApplied: number;
}

type Kept = Pick<
  PartitionStatus,
  | 'partition'
  | 'state'
  | 'fault'
  | 'outOffset'
  | 'lastProgressMs'
  | 'snapshotOffset'
  | 'commandsApplied'
>;

/** Puts together what the runner keeps and what the engine knows while it is live. */
export function statusOf(
  kept: Kept & { readonly position: Position | null; readonly highWatermark: number },
): PartitionStatus {
  const { position, highWatermark, ...rest } = kept;
  const nextOffset = position?.nextOffset ?? 0;
  return {
    ...rest,
    inOffset: nextOffset - 1,
    lagRecords: position === null ? 0 : Math.max(0, highWatermark - nextOffset),
    timeMs: position?.engine.timeMs ?? 0,
    openOrders: position?.engine.openOrderCount ?? 0,
    markets: position?.engine.marketCount ?? 0,
    chain: position?.chain.toString('hex') ?? '',
  };
}
