import { microText, parseMicro, parsePrice, priceText } from '@pm/schemas/decimal';
import type { OrderFinding } from '@pm/schemas/http/order-finding';
import { type Static, Type } from 'typebox';
import type { MarketView } from '../markets/market-view.ts';
import { conditionId, decimal, isoTime, orNull, tokenId, userWritten } from '../server/forms.ts';
import type { ToolRefusal } from '../server/tool.ts';
import { meaningText, type OrderMeaning } from './order-meaning.ts';
import type { Walk } from './walk-book.ts';

/** Fills that a preview lists; all of them are in the sums. */
const fillsShownMax = 50;

const Check = Type.Object({
  check: Type.String(),
  ok: orNull(Type.Boolean({ description: 'null: not checked.' })),
  code: orNull(Type.String()),
  message: Type.String(),
});
export type Check = Static<typeof Check>;

export const PreviewView = Type.Object({
  preview_id: orNull(
    Type.String({
      description:
        'For `place_order`; null where this server does not trade, and beyond the limits of its owner.',
    }),
  ),
  expires_at: orNull(isoTime),
  placeable: Type.Boolean({ description: 'No check failed, and there is a preview id.' }),
  order: Type.Object({
    text: Type.String({ description: 'The order in words.' }),
    token_id: tokenId,
    condition_id: conditionId,
    question: userWritten,
    outcome: userWritten,
  }),
  expected: Type.Enum(
    ['fills', 'fills_and_rests', 'fills_and_cancels', 'rests', 'cancels', 'refused'],
    { description: 'By the book of `book_time`; other orders may come first.' },
  ),
  book_time: isoTime,
  fills: Type.Array(Type.Object({ price: decimal, size: decimal, usdc: decimal, fee: decimal })),
  filled_size: decimal,
  average_price: orNull(decimal),
  usdc: Type.String({ description: 'Paid by a BUY, received by a SELL, before the fee.' }),
  fee: decimal,
  total_usdc: Type.String({ description: 'With the fee: what a BUY pays, what a SELL receives.' }),
  rest: Type.String({ description: 'Shares, or USDC of a budget, that are not filled at once.' }),
  can_lose_usdc: Type.String({ description: 'The most the order can lose; the limits count it.' }),
  checks: Type.Array(Check),
});
type PreviewView = Static<typeof PreviewView>;

export interface PreviewFacts {
  readonly meaning: OrderMeaning;
  readonly market: MarketView;
  readonly walk: Walk;
  readonly riskMicro: number;
  readonly bookTime: string;
  readonly checks: readonly Check[];
  readonly preview: { readonly id: string; readonly expiresAt: string } | null;
}

/** A preview as the model sees it. */
export function previewView(facts: PreviewFacts): PreviewView {
  const { meaning, market, walk, preview, checks } = facts;
  const sign = meaning.side === 'BUY' ? 1 : -1;
  const token = market.outcomes.find(({ token_id }) => token_id === meaning.tokenId);
  return {
    preview_id: preview?.id ?? null,
    expires_at: preview?.expiresAt ?? null,
    placeable: preview !== null && checks.every(({ ok }) => ok !== false),
    order: {
      text: meaningText(meaning),
      token_id: meaning.tokenId,
      condition_id: market.condition_id,
      question: market.question,
      outcome: token?.outcome ?? '',
    },
    expected: walk.expected,
    book_time: facts.bookTime,
    fills: walk.fills.slice(0, fillsShownMax).map((fill) => ({
      price: priceText(fill.price),
      size: microText(fill.sizeMicro),
      usdc: microText(fill.costMicro),
      fee: microText(fill.feeMicro),
    })),
    filled_size: microText(walk.filledMicro),
    average_price: averageOf(walk),
    usdc: microText(walk.costMicro),
    fee: microText(walk.feeMicro),
    total_usdc: microText(walk.costMicro + sign * walk.feeMicro),
    rest: microText(walk.restMicro),
    can_lose_usdc: microText(facts.riskMicro),
    checks: [...checks],
  };
}

/** USDC a share, rounded half up to a millionth. */
function averageOf({ costMicro, filledMicro }: Walk): string | null {
  if (filledMicro === 0) return null;
  const scaled =
    (BigInt(costMicro) * 2_000_000n + BigInt(filledMicro)) / (2n * BigInt(filledMicro));
  return microText(Number(scaled));
}

/** Checks that need the market and its book alone. */
export function marketChecks(
  meaning: OrderMeaning,
  market: MarketView,
  expected: Walk['expected'],
): readonly Check[] {
  const tick = parsePrice(market.tick_size) ?? 1;
  const minMicro = parseMicro(market.min_order_size) ?? 0;
  const isLargeEnough = meaning.budgetMicro > 0 ? null : meaning.sizeMicro >= minMicro;
  return [
    check('market_accepts_orders', market.accepting_orders, `the market is ${market.status}`),
    check('price_on_tick', meaning.price % tick === 0, `the tick is ${market.tick_size}`),
    check('size_large_enough', isLargeEnough, `the smallest size is ${market.min_order_size}`),
    check('book_allows_it', expected !== 'refused', `by the book of now: ${expected}`),
  ];
}

function check(name: string, ok: boolean | null, message: string): Check {
  return { check: name, ok, code: null, message };
}

/** Validation of the order by the exchange, without its signature. */
export function exchangeCheck(finding: OrderFinding | null): Check {
  if (finding === null) return check('exchange_validates', null, 'no finding');
  const { valid, code = null, errorMsg, money } = finding;
  const parts = [
    errorMsg,
    money ? `needs ${money.needed}, available ${money.available ?? 'unknown'}` : '',
    'signature not checked: the order is signed when it is placed',
  ];
  const message = parts.filter((part) => part !== '').join('; ');
  return { check: 'exchange_validates', ok: valid, code, message };
}

/** A check of the owner's limits. */
export function ownerCheck(name: string, refusal: ToolRefusal | null): Check {
  return {
    check: name,
    ok: refusal === null,
    code: refusal?.code ?? null,
    message: refusal?.message ?? 'within the limits of the owner',
  };
}

/** The exchange is asked about no order that the owner does not allow. */
export const uncheckedBeyondLimits: Check = check(
  'exchange_validates',
  null,
  'not checked: the owner does not allow the order',
);

/** Where no key signs, nothing that needs one is checked. */
export const uncheckedWithoutKey: Check = check(
  'exchange_validates',
  null,
  'not checked: money and the limits of an owner need a wallet key (stdio server)',
);
