import { parsePrice } from '@pm/schemas/decimal';
import type { ApprovalResponse } from '@pm/schemas/http/approvals';
import type { Resolution } from '@pm/schemas/http/operator-responses';
import type { Approval } from '@pm/schemas/log/approvals';
import type { CatalogMarket } from '@pm/schemas/log/catalog';
import { priceOne } from '@pm/schemas/money';

/** Whether a second person can still decide on it. */
export function isPending(
  { decision, challengedAtMs, expiresAtMs }: Approval,
  nowMs: number,
): boolean {
  return decision === 'NONE' && challengedAtMs === 0 && nowMs < expiresAtMs;
}

/** Whether it is a resolution whose challenge window runs, or has ended without it being carried out yet. */
export function isProposed({ paysAtMs, challengedAtMs, carriedOutAtMs }: Approval): boolean {
  return paysAtMs > 0 && challengedAtMs === 0 && carriedOutAtMs === 0;
}

export function stateOf(one: Approval, nowMs: number): ApprovalResponse['state'] {
  if (one.carriedOutAtMs > 0) return 'carried_out';
  if (one.challengedAtMs > 0) return 'challenged';
  if (one.decision === 'REJECTED') return 'rejected';
  if (one.decision === 'APPROVED') return one.paysAtMs > 0 ? 'proposed' : 'approved';
  return isPending(one, nowMs) ? 'pending' : 'expired';
}

/** Payout of a token of the first outcome, 1/10000 USDC; null when it is no price from 0 to 1. */
export function readPayout({ payout0 }: Resolution): number | null {
  const price = parsePrice(payout0);
  return price === null || price > priceOne ? null : price;
}

/** The payout that an approval of a resolution asks for; its body was checked when it was sent. */
export function payoutOf({ body }: Pick<Approval, 'body'>): number | null {
  return readPayout(JSON.parse(body));
}

/**
 * The market as the catalog has to show it for the approval that counts for it; the same object when it does. A
 * resolved market stays as it is.
 */
export function shownWith(market: CatalogMarket, approval: Approval): CatalogMarket {
  const payout0 = payoutOf(approval);
  if (market.payout0 >= 0 || payout0 === null) return market;
  const { paysAtMs, challengedAtMs } = approval;
  if (isProposed(approval)) {
    const isShown = market.proposedPayout0 === payout0 && market.paysAtMs === paysAtMs;
    return isShown ? market : { ...market, proposedPayout0: payout0, paysAtMs, challengedAtMs: 0 };
  }
  if (challengedAtMs === 0 || market.proposedPayout0 < 0) return market;
  return { ...market, proposedPayout0: -1, challengedAtMs, challenges: market.challenges + 1 };
}

/** The approvals that count, one a market: the one that is proposed, otherwise the newest of those that were. */
export function countingApprovals(all: readonly Approval[]): ReadonlyMap<number, Approval> {
  const counting = new Map<number, Approval>();
  for (const one of all) {
    if (one.paysAtMs === 0) continue;
    const known = counting.get(one.market);
    if (known === undefined || rank(one) > rank(known)) counting.set(one.market, one);
  }
  return counting;
}

function rank(one: Approval): number {
  if (isProposed(one)) return Number.POSITIVE_INFINITY;
  return Math.max(one.challengedAtMs, one.carriedOutAtMs);
}
