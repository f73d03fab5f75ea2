import { microText, parseMicro, parsePrice, priceText } from '@pm/schemas/decimal';
import type { TimeInForce } from '@pm/schemas/log/types';
import {
  complementPrice,
  feeBoundMicro,
  holdMicro,
  lotMicro,
  notionalMicro,
  orderSizeMaxMicro,
  priceOne,
} from '@pm/schemas/money';
import { type Static, Type } from 'typebox';
import { amountInput, priceInput, side, tokenId, unixSeconds } from '../server/forms.ts';
import { ToolRefusal } from '../server/tool.ts';

/** An order as a model writes it. */
export const orderFields = {
  token_id: tokenId,
  side,
  price: priceInput,
  size: Type.Optional(
    Type.String({ ...amountInput, description: 'Shares, whole hundredths: "10.5".' }),
  ),
  budget: Type.Optional(
    Type.String({
      ...amountInput,
      description: 'USDC to spend, instead of `size`: FOK or FAK BUY.',
    }),
  ),
  time_in_force: Type.Optional(
    Type.Enum(['GTC', 'GTD', 'FOK', 'FAK'], {
      description:
        'GTC (default) rests, GTD until `expiration`, FOK all at once or nothing, FAK what is there.',
    }),
  ),
  post_only: Type.Optional(Type.Boolean({ description: 'Refused if it would trade at once.' })),
  expiration: Type.Optional(unixSeconds),
} as const;

const OrderFields = Type.Object(orderFields);
export type OrderFields = Static<typeof OrderFields>;

/** Meaning of an order: two orders of one meaning differ in salt, time and signature at most. */
export interface OrderMeaning {
  readonly tokenId: string;
  readonly side: 'BUY' | 'SELL';
  /** 1/10000 USDC. */
  readonly price: number;
  /** Micro-shares; 0 where a budget counts. */
  readonly sizeMicro: number;
  /** Micro-USDC; 0 where a size counts. */
  readonly budgetMicro: number;
  readonly timeInForce: TimeInForce;
  readonly postOnly: boolean;
  /** Unix seconds; 0 unless GTD. */
  readonly expirationSeconds: number;
}

/** Reads the fields of an order; a `ToolRefusal` says what does not fit together. */
export function readMeaning(fields: OrderFields): OrderMeaning | ToolRefusal {
  const { time_in_force: timeInForce = 'GTC', post_only: postOnly = false } = fields;
  const price = parsePrice(fields.price);
  if (price === null || price <= 0 || price >= priceOne) {
    return invalid('`price` is between 0 and 1 USDC, both excluded');
  }
  const amounts = readAmounts(fields, timeInForce);
  if (amounts instanceof ToolRefusal) return amounts;
  if ((timeInForce === 'GTD') !== (fields.expiration !== undefined)) {
    return invalid('`expiration` belongs to GTD, and GTD needs it');
  }
  if (postOnly && timeInForce !== 'GTC' && timeInForce !== 'GTD') {
    return invalid('`post_only` is for GTC and GTD');
  }
  return {
    tokenId: fields.token_id,
    side: fields.side,
    price,
    sizeMicro: amounts.sizeMicro,
    budgetMicro: amounts.budgetMicro,
    timeInForce,
    postOnly,
    expirationSeconds: fields.expiration ?? 0,
  };
}

function readAmounts(
  { size, budget, side: given }: OrderFields,
  timeInForce: TimeInForce,
): { readonly sizeMicro: number; readonly budgetMicro: number } | ToolRefusal {
  if ((size === undefined) === (budget === undefined)) {
    return invalid('give either `size` or `budget`');
  }
  if (budget !== undefined) {
    if (given !== 'BUY' || (timeInForce !== 'FOK' && timeInForce !== 'FAK')) {
      return invalid('`budget` is for FOK and FAK orders that BUY');
    }
    const budgetMicro = parseMicro(budget);
    if (budgetMicro === null || budgetMicro <= 0) return invalid('`budget` is more than 0 USDC');
    return { sizeMicro: 0, budgetMicro };
  }
  const sizeMicro = parseMicro(size ?? '');
  if (sizeMicro === null || sizeMicro <= 0 || sizeMicro % lotMicro !== 0) {
    return invalid('`size` is a whole number of hundredths of a share, more than 0');
  }
  if (sizeMicro > orderSizeMaxMicro) return invalid('`size` is larger than any order may be');
  return { sizeMicro, budgetMicro: 0 };
}

const invalid = (message: string) => new ToolRefusal('invalid_input', message);

export function isSameMeaning(one: OrderMeaning, other: OrderMeaning): boolean {
  return (
    one.tokenId === other.tokenId &&
    one.side === other.side &&
    one.price === other.price &&
    one.sizeMicro === other.sizeMicro &&
    one.budgetMicro === other.budgetMicro &&
    one.timeInForce === other.timeInForce &&
    one.postOnly === other.postOnly &&
    one.expirationSeconds === other.expirationSeconds
  );
}

/** The order in words of its inputs. */
export function meaningText(meaning: OrderMeaning): string {
  const { side: given, price, sizeMicro, budgetMicro, timeInForce } = meaning;
  const amount = budgetMicro > 0 ? `${microText(budgetMicro)} USDC of` : microText(sizeMicro);
  const more = meaning.postOnly ? ', post-only' : '';
  return `${given} ${amount} shares at ${priceText(price)} or better, ${timeInForce}${more}`;
}

/**
 * The most that an order can lose, micro-USDC: the limits of the owner count it. A BUY can lose its cost at the limit;
 * a SELL at p gives away a token that may pay 1, so 1 − p a share. The largest fee is added to both.
 */
export function riskMicro(meaning: OrderMeaning, feeRateBps: number): number {
  const { side: given, price, sizeMicro, budgetMicro } = meaning;
  if (given === 'BUY') return holdMicro({ side: given, price, sizeMicro, budgetMicro, feeRateBps });
  const lost = notionalMicro(complementPrice(price), sizeMicro);
  return lost + feeBoundMicro(priceOne / 2, sizeMicro, feeRateBps);
}
