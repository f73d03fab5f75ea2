import type { CancelResult } from '@pm/schemas/http/trading';
import { outcomesOf } from '../latency/load.ts';
import type { Answer } from '../latency/poster.ts';
import type { LoadResult } from './job.ts';
import type { PlannedRequest } from './plan.ts';

type Request = Pick<PlannedRequest, 'kind' | 'orders'>;

/** Counts what became of each request, and of each of its orders once. */
export class LoadTally {
  readonly #latenciesMs: number[] = [];
  readonly #cancelMs: number[] = [];
  readonly #behindMs: number[] = [];
  readonly #outcomes: Record<string, number> = {};
  readonly #cancels: Record<string, number> = {};
  readonly #samples: Record<string, string> = {};

  /** The generator began to send a request so late. */
  began(behindMs: number): void {
    this.#behindMs.push(behindMs);
  }

  /** Without an answer the time is that until the generator gave up. */
  answered({ kind, orders }: Request, answer: Answer, ms: number): void {
    if (kind === 'place') {
      this.#latenciesMs.push(ms);
      for (const word of outcomesOf(answer, orders.length)) count(this.#outcomes, word);
    } else {
      this.#cancelMs.push(ms);
      const canceled = canceledIn(answer);
      count(this.#cancels, 'canceled', canceled);
      count(this.#cancels, 'not canceled', orders.length - canceled);
    }
    const name = kind === 'cancel' ? 'cancel' : orders.length === 1 ? 'single' : 'batch';
    if (isGood(answer)) this.#samples[name] = answer.body;
    else this.#samples[name] ??= answer.body;
  }

  notSent({ kind, orders }: Request): void {
    count(kind === 'place' ? this.#outcomes : this.#cancels, 'not sent', orders.length);
  }

  outcome(): LoadResult {
    return {
      latenciesMs: this.#latenciesMs,
      cancelMs: this.#cancelMs,
      behindMs: this.#behindMs,
      outcomes: this.#outcomes,
      cancels: this.#cancels,
      samples: this.#samples,
    };
  }
}

/** Nothing in it was refused. */
function isGood({ status, body }: Answer): boolean {
  return status === 200 && !body.includes('"success":false');
}

function canceledIn({ status, body }: Answer): number {
  return status === 200 ? (JSON.parse(body) as CancelResult).canceled.length : 0;
}

function count(to: Record<string, number>, word: string, times = 1): void {
  if (times > 0) to[word] = (to[word] ?? 0) + times;
}
