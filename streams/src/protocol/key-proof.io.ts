import type { KeyHolder } from '@pm/domain/accounts/key-verifier';
import type { Clock } from '@pm/kit/clock';

/** A proof that fails is tried again so often and for so long, whatever is wrong with it, milliseconds. */
const proofEveryMs = 100;
const proofWaitMs = 3_000;

/**
 * Proves whose connection it is. A key reaches this process a moment after it was made, so a proof that fails is tried
 * again for a while; it is unproven only after that.
 */
export class KeyProof {
  readonly #clock: Pick<Clock, 'monotonicMs'>;
  #timer: NodeJS.Timeout | null = null;

  constructor(clock: Pick<Clock, 'monotonicMs'>) {
    this.#clock = clock;
  }

  /** A proof is waiting to be tried again. */
  get isWaiting(): boolean {
    return this.#timer !== null;
  }

  /** Calls `proven` or `unproven` once, perhaps before it returns; neither after `stop`. */
  start(
    verify: () => KeyHolder | null,
    outcome: { proven(holder: KeyHolder): void; unproven(): void },
  ): void {
    const waitUntilMs = this.#clock.monotonicMs() + proofWaitMs;
    const attempt = () => {
      this.#timer = null;
      const holder = verify();
      if (holder !== null) outcome.proven(holder);
      else if (this.#clock.monotonicMs() >= waitUntilMs) outcome.unproven();
      else this.#timer = setTimeout(attempt, proofEveryMs);
    };
    attempt();
  }

  stop(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
  }
}
