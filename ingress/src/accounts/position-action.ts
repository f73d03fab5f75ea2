import type { ListedToken } from '@pm/domain/catalog/catalog-index';
import type { PlacedEvent } from '@pm/domain/orders/order-result';
import { parseMicro } from '@pm/schemas/decimal';
import { hexBytes, type WalletAddress } from '@pm/schemas/ids';
import type { Command, CommandOf } from '@pm/schemas/log/orders';
import { lotMicro, orderSizeMaxMicro } from '@pm/schemas/money';
import type { RefusalCode } from '@pm/schemas/refusals';

export type PositionAction = 'split' | 'merge' | 'redeem';

/** A split, merge or redemption, well-formed. */
export interface PositionRequest {
  readonly action: PositionAction;
  /** 32 bytes; given once. */
  readonly requestId: Buffer;
  readonly wallet: WalletAddress;
  /** Token 0 of the condition. */
  readonly token: ListedToken;
  /** Micro-shares of each token; a redemption takes all there are. */
  readonly sizeMicro: number;
}

/** Why an amount is none for this action; null when it is one (conventions.md 4.2). */
export function readSize(
  action: PositionAction,
  amount: string | undefined,
): { readonly sizeMicro: number } | { readonly detail: string } {
  if (action === 'redeem') {
    return amount === undefined ? { sizeMicro: 0 } : { detail: 'a redemption takes no amount' };
  }
  const sizeMicro = amount === undefined ? null : parseMicro(amount);
  const isWhole = sizeMicro !== null && sizeMicro > 0 && sizeMicro % lotMicro === 0;
  if (!isWhole) return { detail: 'amount must be decimal text in steps of 0.01' };
  return sizeMicro > orderSizeMaxMicro ? { detail: 'amount is too large' } : { sizeMicro };
}

/** The action on the log; `hold` is what was reserved for a split. */
export function positionCommand(
  { action, requestId, wallet, token, sizeMicro }: PositionRequest,
  hold: Pick<CommandOf<'SplitPosition'>, 'holdMicro' | 'generation' | 'acceptedAtMs'>,
): Command {
  const base = { requestId, wallet: hexBytes(wallet), market: token.market.market };
  if (action === 'split') return { kind: 'SplitPosition', ...base, sizeMicro, ...hold };
  if (action === 'merge') return { kind: 'MergePosition', ...base, sizeMicro };
  return { kind: 'RedeemPosition', ...base };
}

/** The result of an action from the log; `payoutMicro` is null when it was carried out in an earlier record. */
export type PositionResult =
  | { readonly kind: 'done'; readonly payoutMicro: number | null }
  | { readonly kind: 'refused'; readonly code: RefusalCode };

export function positionResult(
  action: PositionAction,
  events: readonly PlacedEvent[],
): PositionResult {
  for (const { event } of events) {
    if (event.kind === 'PositionMoved') return { kind: 'done', payoutMicro: event.paidMicro };
    if (event.kind !== 'CommandRefused') continue;
    const { code } = event;
    if (code === 'duplicate' || code === 'already_done') return { kind: 'done', payoutMicro: null };
    return { kind: 'refused', code: clientCode(action, code) };
  }
  return { kind: 'refused', code: 'internal_error' };
}

/** Translates the code of the matcher into the terms of the request. */
function clientCode(action: PositionAction, code: RefusalCode): RefusalCode {
  if (action !== 'split' && code === 'insufficient_balance_or_allowance') {
    return 'insufficient_position';
  }
  return action === 'redeem' && code === 'market_not_ready' ? 'market_not_resolved' : code;
}
