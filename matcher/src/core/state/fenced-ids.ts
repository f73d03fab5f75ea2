import type { PlaceOrder } from '@pm/schemas/log/orders';

/** An order id that a cancel has named before the order came; orders of other signers may have it. */
export interface FencedId {
  readonly signer: Buffer;
  readonly orderId: Buffer;
  /** The arrival of the cancel, Unix milliseconds. */
  readonly acceptedAtMs: number;
}

/** Most entries at a time, of all signers and of each. */
export interface FencedIdsMax {
  readonly total: number;
  readonly perSigner: number;
}

const signerBytes = 20;

/**
 * Order ids that cancels have named and the partition has never seen.
 *
 * Promises: an order is refused only by a cancel of its own signer; of one id the latest cancel counts; an id is kept
 * until every order that came before its cancel would be too late for the book; no signer has more than its part.
 */
export class FencedIds {
  /** Arrivals of the latest cancels by signer and id, as text of a character a byte. */
  private readonly cancels = new Map<string, number>();
  /** How many there are by signer. */
  private readonly counts = new Map<string, number>();
  private earliestMs = Number.POSITIVE_INFINITY;

  get count(): number {
    return this.cancels.size;
  }

  /** Adds an id or moves it forward; false when there would be more than `max`. */
  add({ signer, orderId, acceptedAtMs }: FencedId, max: FencedIdsMax): boolean {
    const owner = signer.toString('latin1');
    const key = owner + orderId.toString('latin1');
    const known = this.cancels.get(key);
    if (known === undefined) {
      const own = this.counts.get(owner) ?? 0;
      if (this.cancels.size >= max.total || own >= max.perSigner) return false;
      this.counts.set(owner, own + 1);
    } else if (known >= acceptedAtMs) {
      return true;
    }
    this.cancels.set(key, acceptedAtMs);
    this.earliestMs = Math.min(this.earliestMs, acceptedAtMs);
    return true;
  }

  covers({ signer, orderId }: Pick<PlaceOrder, 'signer' | 'orderId'>): boolean {
    if (this.cancels.size === 0) return false;
    return this.cancels.has(signer.toString('latin1') + orderId.toString('latin1'));
  }

  /** Forgets the ids of cancels before `beforeMs`. */
  forget(beforeMs: number): void {
    if (this.earliestMs >= beforeMs) return;
    this.earliestMs = Number.POSITIVE_INFINITY;
    for (const [key, acceptedAtMs] of this.cancels) {
      if (acceptedAtMs < beforeMs) this.remove(key);
      else this.earliestMs = Math.min(this.earliestMs, acceptedAtMs);
    }
  }

  /** By signer and id. */
  inOrder(): FencedId[] {
    const sorted = [...this.cancels].sort(([a], [b]) => (a < b ? -1 : 1));
    return sorted.map(([key, acceptedAtMs]) => {
      const bytes = Buffer.from(key, 'latin1');
      const [signer, orderId] = [bytes.subarray(0, signerBytes), bytes.subarray(signerBytes)];
      return { signer, orderId, acceptedAtMs };
    });
  }

  /** How many entries the counts of the signers add up to. */
  counted(): number {
    let sum = 0;
    for (const count of this.counts.values()) sum += count;
    return sum;
  }

  private remove(key: string): void {
    this.cancels.delete(key);
    const owner = key.slice(0, signerBytes);
    const left = (this.counts.get(owner) ?? 0) - 1;
    if (left === 0) this.counts.delete(owner);
    else this.counts.set(owner, left);
  }
}
