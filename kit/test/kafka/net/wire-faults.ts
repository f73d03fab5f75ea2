import type { Random } from '@pm/kit/random';
import { keys } from './broker-requests.ts';

/** Outcome of a request. */
export type Fate = 'usual' | 'late' | 'stuck' | 'closed before' | 'closed after';

const usualMs = 0.05;
const notLeader = 6;
const outOfRange = 1;
const storageError = 56;
const unknownServerError = -1;

/** How likely single requests go wrong. */
export class WireFaults {
  readonly #random: Random;
  /** Share of requests that go wrong. */
  share = 0;
  /** Share of those answered with an error instead. */
  errors = 0;
  /** Brokers have no identities for producers, as after their start. */
  noProducerIds = false;
  /** So late is the next answer to a heartbeat. */
  heartbeatLateMs = 0;
  /** Records of one partition in a fetch. */
  readonly recordsMax: number;
  weights: Readonly<Record<Exclude<Fate, 'usual'>, number>> = {
    late: 4,
    stuck: 1,
    'closed before': 1,
    'closed after': 1,
  };

  constructor(random: Random) {
    this.#random = random;
    this.recordsMax = random.pick([4, 25]);
  }

  fateOf(key: number): Fate {
    if (key === keys.apiVersions && this.#random.chance(0.5)) return 'usual';
    if (!this.#random.chance(this.share)) return 'usual';
    const all = Object.entries(this.weights) as [Fate, number][];
    let rest = this.#random.next() * all.reduce((sum, [, weight]) => sum + weight, 0);
    for (const [fate, weight] of all) {
      rest -= weight;
      if (rest < 0) return fate;
    }
    return 'usual';
  }

  /** How long a broker takes for an answer. */
  delayMs(fate: Fate, key: number): number {
    if (key === keys.heartbeat && this.heartbeatLateMs > 0) {
      const lateMs = this.heartbeatLateMs;
      this.heartbeatLateMs = 0;
      return lateMs;
    }
    if (fate !== 'late') return usualMs;
    return 50 + this.#random.below(this.#random.chance(0.3) ? 2_500 : 600);
  }

  /** Whether a connection that is stuck stays so for ever. */
  isForEver(): boolean {
    return this.#random.chance(0.3);
  }

  fetchError(): number {
    if (!this.#random.chance(this.errors)) return 0;
    return this.#random.pick([notLeader, outOfRange, storageError]);
  }

  coordinatorError(): number {
    return this.#random.chance(this.errors) ? 15 : 0;
  }

  groupError(key: number): number {
    if (!this.#random.chance(this.errors)) return 0;
    if (key === keys.heartbeat && this.#random.chance(0.3)) return unknownServerError;
    return this.#random.pick([14, 15, 16]);
  }
}
