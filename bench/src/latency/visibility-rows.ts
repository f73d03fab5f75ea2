import { msText, quantile } from '../report/numbers.ts';
import type { Visibility } from './visibility.ts';

export const visibilityHead = ['what', 'samples', 'p50', 'p90', 'p99', 'max'] as const;

/** Description of the samples that the figures count. */
export const visibilityCondition =
  'Readable: pairs that meet, two a second at planned moments in markets of their own, the taking order a second after the resting one; polled through the gateway from the planned moment on, each read 10 ms after its last response; the two lists of trades are read for all pairs at once. Public reads without a key, except GET /data/trades.';

/** A row for each read, and one for each reason of samples that failed. */
export function visibilityRows({ seenMs, failed }: Visibility): readonly string[][] {
  const reasons = [...new Set(failed)].map((reason) => {
    const times = failed.filter((one) => one === reason).length;
    return [`failed: ${reason}`, String(times), '', '', '', ''];
  });
  const seen = [...seenMs].map(([what, ms]) => [
    what,
    String(ms.length),
    ...[0.5, 0.9, 0.99, 1].map((share) => msText(quantile(ms, share))),
  ]);
  return [...seen, ...reasons];
}
