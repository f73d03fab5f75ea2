import type { ImportResult } from '@pm/schemas/http/operator';
import { StackError } from '../local/stack-error.ts';
import type { Operator } from '../stack/operator.ts';
import { Ladders } from './ladders.ts';
import type { DemoMarket } from './market-maker.ts';
import {
  isHeads,
  pauseAfterMs,
  shortMarketEvent,
  shortMarketSlug,
  shortMarketStepMs,
  shortMarketSteps,
  shortMarketsMax,
  shortMarketTicks,
} from './short-markets.ts';
import { crossingOrder } from './takers.ts';
import type { TradingAccount } from './trading-account.ts';

type Account = Pick<TradingAccount, 'cancelMarket' | 'place' | 'redeem'>;

export interface ShortMarketParts {
  readonly operator: Pick<Operator, 'importNewEvents' | 'resolveMarket'>;
  readonly maker: Account;
  readonly takers: readonly Account[];
  readonly baseUrl: string;
  /** Whether the event of this slug was closed; null when there is none. Throws when the exchange does not respond. */
  readonly isClosed: (slug: string) => Promise<boolean | null>;
  /** False when the demo is being stopped. */
  readonly wait: (ms: number) => Promise<boolean>;
}

/** Time for a listed market to be tradable, and for a resolved one to be redeemable. */
const settleMs = 3_000;
/** Retries of an account whose redemption is refused: the resolution may be under way. */
const redeemTriesMax = 5;

/** Plays markets that end until `shortMarketsMax` have ended, in this run or earlier ones. */
export async function playShortMarkets(parts: ShortMarketParts): Promise<void> {
  let number = 1;
  for (;;) {
    try {
      number = await firstOpenNumber(parts, number);
      if (number > shortMarketsMax) return;
      if (!(await playShortMarket(number, parts))) return;
    } catch (error) {
      // The exchange may be away for a while, or the operator has taken the event in hand.
      if (!(error instanceof StackError || error instanceof TypeError)) throw error;
    }
    if (!(await parts.wait(pauseAfterMs(number)))) return;
  }
}

async function firstOpenNumber({ isClosed }: ShortMarketParts, from: number): Promise<number> {
  let number = from;
  while (number <= shortMarketsMax && (await isClosed(shortMarketSlug(number))) === true) {
    number += 1;
  }
  return number;
}

/** One market from its listing to its redemption; false when the demo is being stopped. */
export async function playShortMarket(number: number, parts: ShortMarketParts): Promise<boolean> {
  const { operator, maker, takers, wait } = parts;
  const event = shortMarketEvent(number, parts.baseUrl, new Date());
  const { markets } = await operator.importNewEvents([event]);
  const listed = markets[0];
  if (listed === undefined) throw new StackError('START_FAILED', `${event.slug} was not listed`);
  if (!(await wait(settleMs))) return false;
  const market = demoMarketOf(listed);
  const ladders = new Ladders(maker);
  for (let step = 0; step < shortMarketSteps; step += 1) {
    const ticks = shortMarketTicks(number, step);
    await ladders.moveTo(market, ticks);
    const isYes = (number + step) % 3 === 0 ? !isHeads(number) : isHeads(number);
    const shares = 20 + ((number * 7 + step * 13) % 80);
    const order = crossingOrder({ market, bid: ticks - 1, ask: ticks + 1 }, { isYes, shares });
    await takers[step % takers.length]?.place([order]);
    if (!(await wait(shortMarketStepMs))) return false;
  }
  await operator.resolveMarket(listed.id, isHeads(number) ? '1' : '0');
  if (!(await wait(settleMs))) return false;
  for (const account of new Set([maker, ...takers])) await redeem(account, market, parts);
  return true;
}

async function redeem(
  account: Account,
  { conditionId }: DemoMarket,
  { wait }: ShortMarketParts,
): Promise<void> {
  for (let tries = 1; !(await account.redeem(conditionId)); tries += 1) {
    if (tries === redeemTriesMax || !(await wait(settleMs))) return;
  }
}

function demoMarketOf({
  slug,
  conditionId,
  tokenIds,
}: ImportResult['markets'][number]): DemoMarket {
  return { slug, conditionId, tokenIds: [tokenIds[0] ?? '', tokenIds[1] ?? ''] };
}
