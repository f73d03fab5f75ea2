import { microText } from '@pm/schemas/decimal';
import { ToolRefusal } from '../server/tool.ts';

/** Limits of a model that trades with a wallet, set by the owner. Amounts in micro-USDC, as `riskMicro` counts. */
export interface TradingLimits {
  readonly perOrderMicro: number;
  /** Limit of all orders of a day (UTC), those canceled later included. */
  readonly perDayMicro: number;
  /** Condition ids. */
  readonly markets: ReadonlySet<string>;
}

/** Markets that an owner may list. */
export const marketsMax = 100;

/** Why the limits of the owner forbid an order, without the day; null when they allow it. */
export function limitRefusal(
  limits: TradingLimits,
  order: { readonly conditionId: string; readonly riskMicro: number },
): ToolRefusal | null {
  if (!limits.markets.has(order.conditionId)) {
    return new ToolRefusal(
      'market_not_allowed',
      `the owner of the wallet does not list market ${order.conditionId} for trading`,
    );
  }
  if (order.riskMicro > limits.perOrderMicro) {
    return new ToolRefusal(
      'order_too_large',
      `the order can lose ${microText(order.riskMicro)} USDC; the owner allows ` +
        `${microText(limits.perOrderMicro)} an order`,
    );
  }
  return null;
}

/** The refusal of an order that is too much for its day. */
export function dayRefusal(
  limits: TradingLimits,
  { usedMicro, riskMicro }: { readonly usedMicro: number; readonly riskMicro: number },
): ToolRefusal | null {
  if (usedMicro + riskMicro <= limits.perDayMicro) return null;
  return new ToolRefusal(
    'day_limit_reached',
    `the order can lose ${microText(riskMicro)} USDC; ${microText(usedMicro)} of the ` +
      `${microText(limits.perDayMicro)} that the owner allows a day (UTC) are used`,
  );
}
