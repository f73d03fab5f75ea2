import { Fault } from '@pm/kit/fault';
import type { LogPosition } from './record-processor.ts';

/**
 * Liveness of one partition in one process.
 *
 *                  ┌──────────── retry ───────────┐
 *                  ▼                              │
 *     released ─▶ restoring ──── fault ────────▶ failed
 *        ▲         │     │                        ▲  │
 *        │         │     └─▶ live ──── fault ─────┤  │
 *        │         │         │▲   ticks come back │  │
 *        │         │         ▼│   or do not       │  │
 *        │         │        stalled ─── fault ────┘  │
 *        └─────────┴──────────┴──────────────────────┘
 *                        revoked
 */
const allowed = {
  released: ['restoring'],
  restoring: ['live', 'failed', 'released'],
  live: ['stalled', 'failed', 'released'],
  stalled: ['live', 'failed', 'released'],
  failed: ['restoring', 'released'],
} as const satisfies Record<string, readonly string[]>;

export type PartitionState = keyof typeof allowed;

/** The ticks of a live owner come back within this time, milliseconds. */
export const tickAgeMaxMs = 5_000;

export const partitionStates = Object.keys(allowed) as readonly PartitionState[];

/** The state of one partition. A change that the table does not allow throws `forbidden_transition` (stop). */
export class PartitionLifecycle {
  readonly #partition: number;
  readonly #onChange: (state: PartitionState) => void;
  #state: PartitionState = 'released';

  /** `onChange` is also called with the first state. */
  constructor(partition: number, onChange: (state: PartitionState) => void) {
    this.#partition = partition;
    this.#onChange = onChange;
    onChange(this.#state);
  }

  get state(): PartitionState {
    return this.#state;
  }

  change(to: PartitionState): void {
    const from = this.#state;
    const next: readonly PartitionState[] = allowed[from];
    if (!next.includes(to)) {
      throw new Fault('forbidden_transition', 'stop', {
        facts: { partition: this.#partition, from, to },
      });
    }
    this.#state = to;
    this.#onChange(to);
  }
}

/** A partition as `/status` shows it. Offsets are -1 while there is none. */
export interface PartitionStatus {
  readonly partition: number;
  readonly state: PartitionState;
  /** Whether this process writes the outputs; `none` while not live. */
  readonly role: 'owner' | 'standby' | 'none';
  /** Number of the claim that gave the partition to its owner, as far as this process has read; 0 before the first. */
  readonly term: number;
  /** Version of the rules that the next record is judged by; 0 while not live. */
  readonly rules: number;
  /**
   * For an owner: time since the newest of its ticks that it has read again was sent, milliseconds; 0 without ticks. It
   * is `stalled` from `tickAgeMaxMs` on.
   */
  readonly tickAgeMs: number;
  /** Code of the fault that it failed with and has not recovered from; empty when there is none. */
  readonly fault: string;
  /** The last input that was processed. */
  readonly inOffset: number;
  /** Offset of the last stored output. */
  readonly outOffset: number;
  readonly lagRecords: number;
  /** Slices of outputs that are not durable. */
  readonly slicesQueued: number;
  /** Outputs of a standby whose copies it has not seen. */
  readonly unseenOutputs: number;
  /** Clock of the partition, Unix milliseconds. */
  readonly timeMs: number;
  /** Time of the last stored or replayed record, Unix milliseconds of this machine. */
  readonly lastProgressMs: number;
  /** First input after the newest snapshot; 0 without one. */
  readonly snapshotOffset: number;
  readonly openOrders: number;
  readonly markets: number;
  /** Chain of the last output, hex; empty while not live. */
  readonly chain: string;
  /** Commands that this process applied as the owner. */
  readonly commandsApplied: number;
}

type OwnFields = Pick<
  PartitionStatus,
  | 'partition'
  | 'state'
  | 'role'
  | 'tickAgeMs'
  | 'fault'
  | 'outOffset'
  | 'lastProgressMs'
  | 'snapshotOffset'
  | 'slicesQueued'
  | 'unseenOutputs'
  | 'commandsApplied'
>;

/** Joins the fields of the partition's owner with those of the engine, which exists while the partition is live. */
export function statusOf(
  own: OwnFields & { readonly position: LogPosition | null; readonly highWatermark: number },
): PartitionStatus {
  const { position, highWatermark, ...rest } = own;
  const nextOffset = position?.nextOffset ?? 0;
  return {
    ...rest,
    term: position?.engine.term ?? 0,
    rules: position?.engine.rules ?? 0,
    inOffset: nextOffset - 1,
    lagRecords: position === null ? 0 : Math.max(0, highWatermark - nextOffset),
    timeMs: position?.engine.timeMs ?? 0,
    openOrders: position?.engine.openOrderCount ?? 0,
    markets: position?.engine.marketCount ?? 0,
    chain: position?.chain.toString('hex') ?? '',
  };
}
