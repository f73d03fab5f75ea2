import { closedAtOf } from '@pm/domain/catalog/facts';
import { priceText } from '@pm/schemas/decimal';
import type { Resolution, ResolutionResponse } from '@pm/schemas/http/operator-responses';
import type { CatalogMarket } from '@pm/schemas/log/catalog';
import { type CatalogServices, carryOut } from './catalog/matcher-market.io.ts';
import { readPayout } from './proposals.ts';
import { isResolved, notFound, type OperatorProblem, refused } from './requests.io.ts';

/** A resolution that is asked for, or whose challenge window has ended. */
export interface AskedResolution {
  readonly market: number;
  /** 1/10000 USDC. */
  readonly payout0: number;
  /**
   * Whether it is the only proposal of the market, so that a book which is resolved already was resolved by it, in
   * another process.
   */
  readonly isOnlyOne: boolean;
}

export const noPayout: OperatorProblem = {
  status: 400,
  text: '/payout0 is no decimal from 0 to 1',
  path: '/payout0',
};

/** Resolves a market and closes its event with the last one. Sent again it completes what broke off. */
export async function resolveMarket(
  market: number,
  body: Resolution,
  services: CatalogServices,
  isOnlyOne = false,
): Promise<ResolutionResponse | OperatorProblem> {
  const payout0 = readPayout(body);
  if (payout0 === null) return noPayout;
  const resolved = await resolve({ market, payout0, isOnlyOne }, services);
  if ('status' in resolved) return resolved;
  await closeFinished(resolved.eventId, services);
  return { id: String(market), payout0: priceText(payout0) };
}

/**
 * Whether a resolution is new, or sent again after it was carried out, when it only completes what broke off; or why it
 * cannot be.
 */
export function judgeResolution(
  market: CatalogMarket,
  payout0: number,
): 'new' | 'again' | OperatorProblem {
  if (market.payout0 === payout0) return 'again';
  if (market.payout0 >= 0) return isResolved;
  const { askedPayout0 } = market;
  return askedPayout0 >= 0 && askedPayout0 !== payout0 ? isAsked(askedPayout0) : 'new';
}

/**
 * Resolves the market in its book, then in the catalog, and returns it as it is then. The requested payout is written
 * to the catalog first: a book whose result comes too late is resolved, and refuses a second resolution without its
 * payout.
 */
function resolve(
  asked: AskedResolution,
  services: CatalogServices,
): Promise<CatalogMarket | OperatorProblem> {
  const { market: number, payout0 } = asked;
  const { catalog, clock, writer, locks } = services;
  return locks.market(number, async () => {
    const market = catalog.findMarket(number);
    if (market === undefined) return notFound;
    const judged = judgeResolution(market, payout0);
    if (judged === 'again') return market;
    if (judged !== 'new') return judged;
    const problem = await resolveBook(market, asked, services);
    if (problem !== null) return problem;
    const states = { payout0, mode: 'RESOLVED', closed: true } as const;
    // Another process may have changed its words meanwhile.
    const latest = catalog.findMarket(number) ?? market;
    const nowMs = clock.nowMs();
    const closedAtMs = closedAtOf(states, latest, nowMs);
    const resolved: CatalogMarket = { ...latest, ...states, closedAtMs, updatedAtMs: nowMs };
    await writer.writeEntries([resolved]);
    return resolved;
  });
}

/** Null when the book is resolved with this payout, now or since an earlier request. */
async function resolveBook(
  market: CatalogMarket,
  { market: number, payout0, isOnlyOne }: AskedResolution,
  { catalog, commands, writer }: CatalogServices,
): Promise<OperatorProblem | null> {
  const isAgain = market.askedPayout0 === payout0;
  const note = (asked: number) =>
    writer.writeEntries([{ ...(catalog.findMarket(number) ?? market), askedPayout0: asked }]);
  if (!isAgain) await note(payout0);
  const command = { kind: 'ResolveMarket', market: number, payout0 } as const;
  const problem = await carryOut(commands, market.partition, command, 'MarketResolved');
  // Nothing else resolves a book, and nothing else was asked for.
  if ((isAgain || isOnlyOne) && problem?.code === 'market_resolved') return null;
  if (!isAgain && problem?.status === 409) await note(-1);
  return problem;
}

function isAsked(payout0: number): OperatorProblem {
  return refused(`market is being resolved with ${priceText(payout0)}: send that again`);
}

/**
 * Closes an event of which no market is open any more: also when a resolution broke off between the two, or when two
 * came together.
 */
function closeFinished(
  eventId: string,
  { catalog, clock, locks, writer }: CatalogServices,
): Promise<void> {
  return locks.catalog(async () => {
    const event = catalog.findEvent(eventId);
    if (event === undefined || event.closed) return;
    if (catalog.marketsOfEvent(eventId).some((market) => !market.closed)) return;
    const nowMs = clock.nowMs();
    await writer.writeEntries([{ ...event, closed: true, closedAtMs: nowMs, updatedAtMs: nowMs }]);
  });
}
