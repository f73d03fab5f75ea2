import { parseMicro, parsePrice } from '@pm/schemas/decimal';
import type { BookSnapshot } from '@pm/schemas/http/reading';
import { affordableMicro, feeMicro, notionalMicro } from '@pm/schemas/money';
import type { OrderMeaning } from './order-meaning.ts';

/** Part of one book level that an order would take. */
export interface LevelFill {
  /** 1/10000 USDC. */
  readonly price: number;
  readonly sizeMicro: number;
  readonly costMicro: number;
  readonly feeMicro: number;
}

/** The book of now against an order. Only the matcher knows what will happen: other orders may come first. */
export interface Walk {
  readonly fills: readonly LevelFill[];
  readonly filledMicro: number;
  readonly costMicro: number;
  readonly feeMicro: number;
  /** Micro-shares that are not filled; of a budget the micro-USDC that are not spent. */
  readonly restMicro: number;
  readonly expected:
    | 'fills'
    | 'fills_and_rests'
    | 'fills_and_cancels'
    | 'rests'
    | 'cancels'
    | 'refused';
}

/**
 * The fills that an order would get from the levels of a book, best price first. The fee is that of each level as one
 * fill; several makers in a level may round it by 0.00001 USDC each.
 */
export function walkBook(
  meaning: OrderMeaning,
  book: Pick<BookSnapshot, 'bids' | 'asks'>,
  feeRateBps: number,
): Walk {
  const { fills, restMicro } = takeLevels(meaning, book, feeRateBps);
  const sum = (of: (fill: LevelFill) => number) => fills.reduce((all, one) => all + of(one), 0);
  // Less than one lot is left of a budget that is spent as far as it goes.
  const isWhole =
    meaning.budgetMicro > 0 ? affordableMicro(meaning.price, restMicro) === 0 : restMicro === 0;
  return {
    fills,
    filledMicro: sum((fill) => fill.sizeMicro),
    costMicro: sum((fill) => fill.costMicro),
    feeMicro: sum((fill) => fill.feeMicro),
    restMicro,
    expected: expectationOf(meaning, fills.length > 0, isWhole),
  };
}

function takeLevels(
  meaning: OrderMeaning,
  book: Pick<BookSnapshot, 'bids' | 'asks'>,
  feeRateBps: number,
): Pick<Walk, 'fills' | 'restMicro'> {
  const fills: LevelFill[] = [];
  const hasBudget = meaning.budgetMicro > 0;
  let restMicro = hasBudget ? meaning.budgetMicro : meaning.sizeMicro;
  for (const { price, sizeMicro: offeredMicro } of levelsWithin(meaning, book)) {
    const wantedMicro = hasBudget ? affordableMicro(price, restMicro) : restMicro;
    const sizeMicro = Math.min(wantedMicro, offeredMicro);
    if (sizeMicro <= 0) break;
    const costMicro = notionalMicro(price, sizeMicro);
    fills.push({ price, sizeMicro, costMicro, feeMicro: feeMicro(price, sizeMicro, feeRateBps) });
    restMicro -= hasBudget ? costMicro : sizeMicro;
  }
  return { fills, restMicro };
}

/** The levels that the limit allows, best first; the exchange has the best last. */
function levelsWithin(
  { side, price: limit }: OrderMeaning,
  { bids, asks }: Pick<BookSnapshot, 'bids' | 'asks'>,
): readonly { readonly price: number; readonly sizeMicro: number }[] {
  return (side === 'BUY' ? asks : bids)
    .toReversed()
    .map(({ price, size }) => ({ price: parsePrice(price) ?? 0, sizeMicro: parseMicro(size) ?? 0 }))
    .filter(({ price }) => (side === 'BUY' ? price <= limit : price >= limit));
}

function expectationOf(
  { timeInForce, postOnly }: OrderMeaning,
  hasFills: boolean,
  isWhole: boolean,
): Walk['expected'] {
  if (postOnly) return hasFills ? 'refused' : 'rests';
  if (timeInForce === 'FOK') return isWhole ? 'fills' : 'refused';
  if (isWhole) return 'fills';
  if (timeInForce === 'FAK') return hasFills ? 'fills_and_cancels' : 'cancels';
  return hasFills ? 'fills_and_rests' : 'rests';
}
