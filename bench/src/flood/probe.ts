import { setTimeout as sleep } from 'node:timers/promises';
import { outcomeOf } from '../latency/load.ts';
import type { Answer, Poster } from '../latency/poster.ts';
import type { Trader, WorldMarket } from '../world/world.ts';

/** Latencies from the planned moment of each request, milliseconds, and what the requests got. */
export interface ProbeSamples {
  readonly orderMs: number[];
  readonly cancelMs: number[];
  readonly orders: Record<string, number>;
  readonly cancels: Record<string, number>;
  /** Largest delay of the probe itself against its plan, milliseconds. */
  plannedLateMs: number;
}

export function noSamples(): ProbeSamples {
  return { orderMs: [], cancelMs: [], orders: {}, cancels: {}, plannedLateMs: 0 };
}

/** An order is canceled so many orders after it was sent, when it has rested for about a second. */
const cancelAfterMs = 1_000;

export interface ProbePlan {
  readonly trader: Trader;
  readonly markets: readonly WorldMarket[];
  /** Orders a second, and as many cancels. */
  readonly perSecond: number;
  readonly seconds: number;
}

/**
 * Places orders that rest and cancels them, at planned moments whether or not answers come. Samples without an answer
 * count with the time until the probe gave up. The last orders are canceled without being counted.
 */
export async function runProbe(
  { orders, cancels }: { readonly orders: Poster; readonly cancels: Poster },
  plan: ProbePlan,
): Promise<ProbeSamples> {
  const { trader, markets, perSecond, seconds } = plan;
  const lag = Math.max(1, Math.round((cancelAfterMs * perSecond) / 1000));
  const signed = Array.from({ length: perSecond * seconds + lag }, (_, index) => {
    const tokenId = markets[index % markets.length]?.tokens[0] ?? '';
    return trader.sign({ tokenId, side: 'BUY', price: '0.1', size: '5' });
  });
  const place = (index: number) => orders.post(trader.key, signed[index]?.body ?? '');
  const cancel = (index: number) => {
    const body = JSON.stringify({ orderID: signed[index]?.orderId });
    return cancels.signed(trader.key, { method: 'DELETE', path: '/order', body });
  };
  // The first cancels have something to cancel.
  await Promise.all(Array.from({ length: lag }, (_, index) => place(index)));
  const samples = noSamples();
  const running: Promise<void>[] = [];
  const started = performance.now();
  for (let index = 0; index < perSecond * seconds; index += 1) {
    const plannedAt = started + (index * 1000) / perSecond;
    const betweenAt = plannedAt + 500 / perSecond;
    samples.plannedLateMs = Math.max(samples.plannedLateMs, await waitUntil(plannedAt));
    running.push(note(samples.orderMs, samples.orders, plannedAt, place(index + lag), outcomeOf));
    samples.plannedLateMs = Math.max(samples.plannedLateMs, await waitUntil(betweenAt));
    running.push(note(samples.cancelMs, samples.cancels, betweenAt, cancel(index), cancelOutcome));
  }
  await Promise.all(running);
  await cancels.signed(trader.key, { method: 'DELETE', path: '/cancel-all', body: '' });
  return samples;
}

/** Waits for the moment; how late it was reached, milliseconds. */
async function waitUntil(atMs: number): Promise<number> {
  const wait = atMs - performance.now();
  if (wait > 0) await sleep(wait);
  return performance.now() - atMs;
}

async function note(
  latencies: number[],
  outcomes: Record<string, number>,
  plannedAt: number,
  answered: Promise<Answer>,
  wordOf: (answer: Answer) => string,
): Promise<void> {
  const answer = await answered;
  latencies.push(performance.now() - plannedAt);
  const word = wordOf(answer);
  outcomes[word] = (outcomes[word] ?? 0) + 1;
}

function cancelOutcome({ status, body }: Answer): string {
  if (status !== 200)
    return /"code":"(\w+)"/.exec(body)?.[1] ?? (status === 0 ? 'no answer' : `HTTP ${status}`);
  return body.includes('"canceled":[]') ? 'not canceled' : 'canceled';
}
