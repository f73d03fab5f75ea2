import type { Coverage } from '@pm/domain/accounts/request-hmac';
import type { ListedToken } from '@pm/domain/catalog/catalog-index';
import { isShut } from '@pm/domain/catalog/facts';
import type { AnswerPlaces } from '@pm/domain/requests/answer-places';
import type { WalletOwners } from '@pm/domain/wallets/wallet-owners';
import { microText } from '@pm/schemas/decimal';
import {
  type ApiKeyId,
  checksumAddress,
  parseApiKeyId,
  parseConditionId,
  type WalletAddress,
} from '@pm/schemas/ids';
import { gtdEarlySeconds, gtdLeadSeconds, signedAheadMaxMs } from '@pm/schemas/log/log-rules';
import type { MarketMode, SelfTrade, WalletStatusKind } from '@pm/schemas/log/types';
import { holdMicro, microPerUnit } from '@pm/schemas/money';
import type { RefusalCode } from '@pm/schemas/refusals';
import { type OrderAmounts, readAmounts } from './amounts.ts';
import type { OrderForm } from './form.ts';

/** The authenticated caller of a request, and when it came. */
export interface Caller {
  readonly apiKey: ApiKeyId;
  /** The wallet of the key. */
  readonly address: WalletAddress;
  /** The counted address of the client, for limits. */
  readonly client: string;
  /** When the request was complete and its credentials were checked, Unix milliseconds. */
  readonly nowMs: number;
  /** When its headers had arrived, Unix milliseconds: time-to-book and fences use it. */
  readonly arrivedAtMs: number;
  /** The rule for orders of the key that meet one of the same owner. */
  readonly selfTrade: SelfTrade;
  /** The parts of the request that the proof of the key covers. */
  readonly covers: Coverage;
  /** Takes the partitions that the answer tells of. */
  readonly answerPlaces: Pick<AnswerPlaces, 'add'>;
  /** The status that operators gave a wallet. */
  statusOf(wallet: WalletAddress): WalletStatusKind;
}

/** Why an order is refused before it is sent; `facts` fill the text, the id of the order is added later. */
export interface OrderRefusal {
  readonly kind: 'refused';
  readonly code: RefusalCode;
  readonly facts?: Readonly<Record<string, string>>;
  /** Instead of the text of the code. */
  readonly text?: string;
  /** Until it is worth another attempt, when it is not the time of the code. */
  readonly waitSeconds?: number;
}

/** An order whose rules, amounts, hash and signature are proved. Its partition and its money remain. */
export interface CheckedOrder {
  readonly kind: 'checked';
  readonly form: OrderForm;
  readonly token: ListedToken;
  /** The hash that its signature proves: 32 bytes, its id. */
  readonly hash: Buffer;
  readonly amounts: OrderAmounts;
  /** Micro-USDC to reserve. */
  readonly holdMicro: number;
  /** GTD: when it leaves the book, Unix milliseconds; otherwise 0. */
  readonly expiresAtMs: number;
  /** Why a new order would be refused now; the same order, placed before, gets its first result nevertheless. */
  readonly refusalIfNew: OrderRefusal | null;
  /**
   * Why a new order would be refused now by what operators allow wallets and have decided on the market, which the
   * matcher does not know; the same order, placed before, gets its first result nevertheless.
   */
  readonly policyRefusal: OrderRefusal | null;
}

/** An order that is checked except for its signature. */
export type UnprovenOrder = Omit<CheckedOrder, 'hash'>;

/** No GTD order is meant to rest longer: milliseconds given as seconds are thousands of years. */
const gtdMaxSeconds = 10 * 366 * 86_400;

/** Clients' clocks may be ahead of ours by so much when they sign. */
const signedAheadSeconds = 5;

/** Least budget of a BUY that takes at once, micro-USDC. */
const marketableMinMicro = microPerUnit;

/** The tables that an order is judged by. */
export interface OrderTables {
  readonly markets: { findToken(id: OrderForm['tokenId']): ListedToken | undefined };
  readonly owners: Pick<WalletOwners, 'isOwnedBy'>;
}

/** The checks of an order, cheapest first. After the last line only signature, partition and money can refuse. */
export function checkRules(
  form: OrderForm,
  caller: Caller,
  { markets, owners }: OrderTables,
): UnprovenOrder | OrderRefusal {
  if (parseApiKeyId(form.owner) !== caller.apiKey) return refused('owner_mismatch');
  const token = markets.findToken(form.tokenId);
  if (token === undefined) return refused('market_not_found');
  if (!namesCondition(form, token)) return refused('condition_mismatch');
  const read = readAmounts(amountsInput(form, token));
  if (read.kind === 'refused') return { kind: 'refused', ...read.refusal };
  const small = marketableRefusal(read.amounts);
  if (small !== null) return small;
  const expiresAtMs = expiryOf(form);
  if (typeof expiresAtMs !== 'number') return expiresAtMs;
  if (form.postOnly && isImmediate(form)) return refused('invalid_post_only_order_type');
  if (!isSignerOf(form, caller.address)) return refused('signer_mismatch');
  if (!owners.isOwnedBy(form.maker, caller.address)) return refused('signer_mismatch');
  const { side } = form.struct;
  const { feeRateBps } = token.market;
  const hold = holdMicro({ side, ...read.amounts, feeRateBps });
  const checked = { form, token, amounts: read.amounts, holdMicro: hold, expiresAtMs };
  const unfit = read.refusalIfNew && ({ kind: 'refused', ...read.refusalIfNew } as const);
  const refusalIfNew = unfit ?? refusalOfNew(form, token, caller);
  const policyRefusal = statusRefusal(form, caller) ?? decisionRefusal(token);
  return { kind: 'checked', ...checked, refusalIfNew, policyRefusal };
}

function refused(code: RefusalCode): OrderRefusal {
  return { kind: 'refused', code };
}

/** Both the caller and the wallet that pays must be allowed to trade; closed-only ones sell and nothing else. */
function statusRefusal(form: OrderForm, caller: Caller): OrderRefusal | null {
  for (const wallet of [caller.address, form.maker]) {
    const status = caller.statusOf(wallet);
    if (status === 'NORMAL') continue;
    const facts = { address: checksumAddress(wallet) };
    if (status === 'BANNED') return { kind: 'refused', code: 'user_banned', facts };
    if (form.struct.side === 'BUY') return { kind: 'refused', code: 'closed_only', facts };
  }
  return null;
}

/**
 * A market that is shut takes no orders; and those who know how one is about to be resolved take no resting orders of
 * others (operator.md). The matcher knows payouts.
 */
function decisionRefusal({ market }: ListedToken): OrderRefusal | null {
  if (market.payout0 >= 0) return null;
  if (isShut(market)) return refused('market_not_ready');
  return market.proposedPayout0 >= 0 ? refused('cancel_only') : null;
}

function isImmediate(form: OrderForm): boolean {
  return form.timeInForce === 'FOK' || form.timeInForce === 'FAK';
}

/** The condition is not signed and mostly not sent; when it is, it must be the token's (conventions.md 3.1). */
function namesCondition(form: OrderForm, token: ListedToken): boolean {
  return form.conditionId === '' || parseConditionId(form.conditionId) === token.conditionId;
}

/** Refusal code of each market mode, equal to that of the matcher, which decides when the catalog here is stale. */
const modeRefusals: Readonly<Record<MarketMode, RefusalCode | null>> = {
  OPEN: null,
  POST_ONLY: 'post_only_mode',
  CANCEL_ONLY: 'cancel_only',
  HALTED: 'condition_paused',
  RESOLVED: 'market_resolved',
};

/** Why the market takes no such order now, by what the matcher knows too; null when it does. */
function marketRefusal({ market }: ListedToken, postOnly: boolean): RefusalCode | null {
  if (market.payout0 >= 0) return 'market_resolved';
  return market.mode === 'POST_ONLY' && postOnly ? null : modeRefusals[market.mode];
}

function amountsInput(form: OrderForm, { market }: ListedToken) {
  const { side, makerAmount, takerAmount } = form.struct;
  const { tick, minSizeMicro } = market;
  return { side, makerAmount, takerAmount, immediate: isImmediate(form), tick, minSizeMicro };
}

/**
 * 0 for orders that do not expire; the refusal when the stated time does not fit the order and never did, by when it
 * was signed (conventions.md 3.6).
 */
function expiryOf(form: OrderForm): number | OrderRefusal {
  const { expirationSeconds, signedAtMs } = form;
  if (form.timeInForce !== 'GTD')
    return expirationSeconds === 0 ? 0 : refused('invalid_expiration');
  const leastSeconds = leastExpirationSeconds(signedAtMs) - signedAheadSeconds;
  if (expirationSeconds < leastSeconds) return refused('invalid_expiration');
  if (expirationSeconds > Math.floor(signedAtMs / 1_000) + gtdMaxSeconds)
    return tooLong(expirationSeconds);
  return (expirationSeconds - gtdEarlySeconds) * 1_000;
}

/** The earliest time that a GTD order may state, if it began its life then; clients state whole seconds. */
function leastExpirationSeconds(fromMs: number): number {
  return Math.floor(fromMs / 1_000) + gtdLeadSeconds;
}

/** A refusal by facts that may have been different when the same order was sent first. */
function refusalOfNew(
  form: OrderForm,
  token: ListedToken,
  { nowMs, arrivedAtMs }: Caller,
): OrderRefusal | null {
  const closed = marketRefusal(token, form.postOnly);
  if (closed !== null) return refused(closed);
  const aheadMs = form.signedAtMs - nowMs;
  if (aheadMs > signedAheadMaxMs) return signedAhead(aheadMs, nowMs);
  // The rule of the matcher, which decides where the earlier response to the same order is not known here.
  const isSoon = form.expirationSeconds < leastExpirationSeconds(arrivedAtMs);
  return form.timeInForce === 'GTD' && isSoon ? refused('invalid_expiration') : null;
}

function signedAhead(aheadMs: number, nowMs: number): OrderRefusal {
  const facts = { ahead: (aheadMs / 1000).toFixed(3), server: (nowMs / 1000).toFixed(3) };
  return { kind: 'refused', code: 'order_signed_ahead', facts };
}

function tooLong(expirationSeconds: number): OrderRefusal {
  const text = `invalid expiration: ${expirationSeconds} is more than ten years after its signing, it is in Unix seconds`;
  return { kind: 'refused', code: 'invalid_expiration', text };
}

/** A BUY that takes at once spends at least a dollar (conventions.md 3.7). */
function marketableRefusal({ budgetMicro }: OrderAmounts): OrderRefusal | null {
  if (budgetMicro === 0 || budgetMicro >= marketableMinMicro) return null;
  const text = `invalid amount for a marketable BUY order ($${microText(budgetMicro)}), min size: 1`;
  return { kind: 'refused', code: 'invalid_size', text };
}

/**
 * Type 0 moves the signer's own money, 1 and 2 a wallet that the signer owns, 3 names only the wallet (conventions.md
 * 3.3).
 */
function isSignerOf(form: OrderForm, address: WalletAddress): boolean {
  if (form.struct.signatureType === 3) return form.maker === form.signer;
  if (form.signer !== address) return false;
  return form.struct.signatureType !== 0 || form.maker === address;
}

/** Why a new order would not be sent now. */
export function admissionRefusal(
  { token, policyRefusal, refusalIfNew }: CheckedOrder,
  partitions: { isReady(partition: number): boolean },
): OrderRefusal | null {
  const refusal = policyRefusal ?? refusalIfNew;
  if (refusal !== null) return refusal;
  return partitions.isReady(token.market.partition) ? null : refused('partition_not_ready');
}
