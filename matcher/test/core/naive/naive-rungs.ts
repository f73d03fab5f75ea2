import type { CommandOf, PlaceOrder } from '@pm/schemas/log/orders';
import { orderSizeMaxMicro } from '@pm/schemas/money';
import type { RefusalCode } from '@pm/schemas/refusals';
import { isWhole } from './naive-positions.ts';

export type Rung = readonly [isBroken: boolean, code: RefusalCode];

type Rules = CommandOf<'SetMarket'>;

/** Possible defects of an order that do not depend on the book. */
export function rungsOfForm(order: PlaceOrder, rules: Rules, clock: number): Rung[] {
  const { price, sizeMicro, budgetMicro, timeInForce, expiresAtMs } = order;
  const mayBudget = takes(order) && order.side === 'BUY';
  const sized = budgetMicro === 0;
  return [
    [order.postOnly && takes(order), 'invalid_post_only_order_type'],
    [price % rules.tick !== 0, 'invalid_tick_size'],
    [price < rules.tick || price > 10_000 - rules.tick, 'invalid_tick_size'],
    [!sized && !mayBudget, 'invalid_amounts'],
    [!sized && (budgetMicro < price || budgetMicro > orderSizeMaxMicro), 'invalid_amounts'],
    [!sized && sizeMicro < 0, 'invalid_amounts'],
    [sized && !isWhole(sizeMicro), 'invalid_amounts'],
    [!takes(order) && sizeMicro < rules.minSizeMicro, 'invalid_size'],
    [timeInForce === 'GTD' && expiresAtMs <= clock, 'invalid_expiration'],
    [timeInForce !== 'GTD' && expiresAtMs !== 0, 'invalid_expiration'],
  ];
}

export function takes(order: PlaceOrder): boolean {
  return order.timeInForce === 'FOK' || order.timeInForce === 'FAK';
}
