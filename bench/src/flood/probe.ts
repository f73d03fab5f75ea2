import { setTimeout as sleep } from 'node:timers/promises';
import { outcomeOf } from '../latency/load.ts';
import type { Answer, Poster } from '../latency/poster.ts';
import type { Trader, WorldMarket } from '../world/world.ts';

/** Requests of the probe. */
export const probed = ['orders', 'cancels', 'reads'] as const;
export type Probed = (typeof probed)[number];

/** Requests of one kind. */
export interface Sampled {
  /** From the planned moment of each, milliseconds. */
  readonly latencyMs: number[];
  readonly outcomes: Record<string, number>;
}

export interface ProbeSamples extends Readonly<Record<Probed, Sampled>> {
  /** Largest delay of the probe itself against its plan, milliseconds. */
  plannedLateMs: number;
}

export function noSamples(): ProbeSamples {
  const none = (): Sampled => ({ latencyMs: [], outcomes: {} });
  return { orders: none(), cancels: none(), reads: none(), plannedLateMs: 0 };
}

/** An order is canceled so many orders after it was sent, when it has rested for about a second. */
const cancelAfterMs = 1_000;

export interface ProbePlan {
  readonly trader: Trader;
  readonly markets: readonly WorldMarket[];
  /** Orders a second, and as many cancels and reads. */
  readonly perSecond: number;
  readonly seconds: number;
}

/**
 * Places orders that rest, cancels them and reads books, at planned moments whether or not answers come. Samples
 * without an answer count with the time until the probe gave up. The last orders are canceled without being counted.
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
  const read = (index: number) =>
    cancels.read(`/book?token_id=${markets[index % markets.length]?.tokens[0] ?? ''}`);
  const samples = noSamples();
  const running: Promise<void>[] = [];
  const started = performance.now();
  const steps = [
    { what: 'orders', send: (index: number) => place(index + lag), wordOf: outcomeOf },
    { what: 'cancels', send: cancel, wordOf: cancelOutcome },
    { what: 'reads', send: read, wordOf: ({ status }: Answer) => `HTTP ${status}` },
  ] as const;
  for (let step = 0; step < perSecond * seconds * steps.length; step += 1) {
    const plannedAt = started + (step * 1000) / (perSecond * steps.length);
    samples.plannedLateMs = Math.max(samples.plannedLateMs, await waitUntil(plannedAt));
    const { what, send, wordOf } = steps[step % steps.length] ?? steps[0];
    const sent = send(Math.floor(step / steps.length)).then(wordOf);
    running.push(note(samples[what], plannedAt, sent));
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
  { latencyMs, outcomes }: Sampled,
  plannedAt: number,
  answered: Promise<string>,
): Promise<void> {
  const word = await answered;
  latencyMs.push(performance.now() - plannedAt);
  outcomes[word] = (outcomes[word] ?? 0) + 1;
}

function cancelOutcome({ status, body }: Answer): string {
  if (status !== 200)
    return /"code":"(\w+)"/.exec(body)?.[1] ?? (status === 0 ? 'no answer' : `HTTP ${status}`);
  return body.includes('"canceled":[]') ? 'not canceled' : 'canceled';
}
