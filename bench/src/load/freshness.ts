import { Poster } from '../latency/poster.ts';
import {
  pairMarkets,
  pairMaxSeconds,
  type Visibility,
  watchVisibility,
} from '../latency/visibility.ts';
import type { OpenBench } from './open-bench.ts';
import { runStep, type StepResult } from './run-step.ts';

/** Orders a second beside the pairs that are watched. */
const rate = { perSecond: 100, batch: 1 };
/** Traders beside those of the load. */
export const pairTraders = 2;

export interface Freshness {
  readonly seen: Visibility;
  /** The load beside it. */
  readonly step: StepResult;
}

/** Watches in this process, which is not the generator, what others can read of pairs that meet. */
export async function watchFreshness(bench: OpenBench, seconds: number): Promise<Freshness> {
  const { traders, markets, stack } = bench.world;
  const [maker, taker] = traders.slice(-pairTraders);
  if (maker === undefined || taker === undefined) throw new RangeError('pairs need two traders');
  const poster = new Poster(stack.baseUrl);
  const pairs = { poster, markets: markets.slice(-pairMarkets), maker, taker };
  try {
    let seen: Visibility = { seenMs: new Map(), failed: [] };
    const step = await runStep(bench, bench.shape(rate, seconds), 'everything', async () => {
      seen = await watchVisibility({ ...pairs, seconds: Math.max(1, seconds - pairMaxSeconds) });
    });
    return { seen, step };
  } finally {
    poster.close();
  }
}
