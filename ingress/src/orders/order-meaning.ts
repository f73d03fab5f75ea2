import type { IsSubmission } from './form.ts';
import { readOrderForm } from './form.ts';

/**
 * What orders mean, apart from how they were signed: token, side, amounts, type, post-only and maker of each. A retry signs
 * anew, so salt, timestamp, signature and a stated expiration differ (conventions.md 1.15). Null when one is malformed.
 */
export function meaningOf(items: readonly unknown[], isSubmission: IsSubmission): string | null {
  const meanings: string[] = [];
  for (const item of items) {
    const read = readOrderForm(item, isSubmission);
    if (read.kind === 'malformed') return null;
    if (read.kind === 'refused') {
      meanings.push(read.code);
      continue;
    }
    const { struct, tokenId, timeInForce, postOnly, maker } = read.form;
    const { side, makerAmount, takerAmount } = struct;
    meanings.push([tokenId, side, makerAmount, takerAmount, timeInForce, postOnly, maker].join());
  }
  return meanings.join('|');
}
