import type { RefusalCode } from '@pm/schemas/refusals';

/** Refusals that leave open whether the request was carried out; a self-trade ends an order that was placed. */
export const openCodes: ReadonlySet<RefusalCode> = new Set([
  'action_unconfirmed',
  'order_unconfirmed',
  'internal_error',
  'self_trade',
  'idempotency_in_progress',
]);
