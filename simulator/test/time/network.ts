import type { Random } from '@pm/kit/random';

/** How likely a message is lost, and how long messages take. */
export interface NetworkFaults {
  requestLoss: number;
  answerLoss: number;
  /** Share of messages that are late. */
  slow: number;
}

export const calm: NetworkFaults = { requestLoss: 0, answerLoss: 0, slow: 0 };

const usualDelayMs = 2;
const slowDelayMs = 1_500;

/** The network of all machines. */
export class Network {
  faults: NetworkFaults = calm;
  lostMessages = 0;
  readonly #random: Random;

  constructor(random: Random) {
    this.#random = random;
  }

  losesRequest(): boolean {
    return this.#loses(this.faults.requestLoss);
  }

  losesAnswer(): boolean {
    return this.#loses(this.faults.answerLoss);
  }

  delayMs(): number {
    const longestMs = this.#random.chance(this.faults.slow) ? slowDelayMs : usualDelayMs;
    return 0.2 + this.#random.next() * longestMs;
  }

  #loses(probability: number): boolean {
    const isLost = this.#random.chance(probability);
    if (isLost) this.lostMessages += 1;
    return isLost;
  }
}
