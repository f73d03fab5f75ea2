import type { OrderDraft } from '@pm/client';
import type { OrderMeaning } from './order-meaning.ts';

/** An order may be placed so long after its preview, milliseconds. */
export const previewLifeMs = 60_000;
/** Previews that are kept; the oldest goes first. */
const previewsMax = 200;

/** An order that has been shown; it is signed when it is placed. */
export interface Preview {
  readonly id: string;
  readonly meaning: OrderMeaning;
  readonly conditionId: string;
  readonly riskMicro: number;
  /** Placing signs and sends this very order, so that a preview is placed once at most. */
  readonly order: OrderDraft;
  /** Monotonic clock, milliseconds. */
  readonly madeAtMs: number;
}

/** The newest previews by id. */
export class Previews {
  readonly #byId = new Map<string, Preview>();
  readonly #counted = new Set<string>();

  get size(): number {
    return this.#byId.size;
  }

  add(preview: Preview): void {
    this.#byId.set(preview.id, preview);
    for (const id of this.#byId.keys()) {
      if (this.#byId.size <= previewsMax) return;
      this.drop(id);
    }
  }

  /** Whether what it can lose is in the file of the day. */
  isCounted(id: string): boolean {
    return this.#counted.has(id);
  }

  markCounted(id: string): void {
    this.#counted.add(id);
  }

  drop(id: string): void {
    this.#byId.delete(id);
    this.#counted.delete(id);
  }

  find(id: string): Preview | null {
    return this.#byId.get(id) ?? null;
  }
}

export function isExpired({ madeAtMs }: Preview, nowMs: number): boolean {
  return nowMs - madeAtMs >= previewLifeMs;
}
