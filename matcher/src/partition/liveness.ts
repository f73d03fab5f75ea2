import { Fault } from '@pm/kit/fault';

/**
 * The life of one partition in one process.
 *
 *                  ┌──────────── retry ───────────┐
 *                  ▼                              │
 *     released ─▶ restoring ──── fault ────────▶ failed
 *        ▲         │     │                        ▲  │
 *        │         │     └─▶ live ──── fault ─────┘  │
 *        └─────────┴──────────┴──────────────────────┘
 *                        revoked
 */
const allowed = {
  released: ['restoring'],
  restoring: ['live', 'failed', 'released'],
  live: ['failed', 'released'],
  failed: ['restoring', 'released'],
} as const satisfies Record<string, readonly string[]>;

export type PartitionState = keyof typeof allowed;

export const partitionStates = Object.keys(allowed) as readonly PartitionState[];

/** Keeps the state of one partition; a change that the table does not allow is a `Fault` (stop). */
export class PartitionStateStore {
  readonly #partition: number;
  readonly #onChange: (state: PartitionState) => void;
  #state: PartitionState = 'released';

  /** `onChange` sees the first state too. */
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
