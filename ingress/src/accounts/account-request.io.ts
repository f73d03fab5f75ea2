import type { Keccak } from '@pm/domain/orders/eip712';
import type { WalletOwners } from '@pm/domain/wallets/wallet-owners';
import { refusalBody } from '@pm/kit/http';
import {
  checksumAddress,
  hexBytes,
  type OrderId,
  orderIdFromBytes,
  parseWalletAddress,
  type WalletAddress,
} from '@pm/schemas/ids';
import { retryLimits } from '@pm/schemas/redis/keys';
import { hasRetryAfter, retryAfterSeconds } from '@pm/schemas/refusal-codes';
import { type RefusalCode, refusals } from '@pm/schemas/refusals';
import type { FastifyRequest } from 'fastify';
import type { HttpResponse, IdempotentRequest } from '../http/idempotency.io.ts';
import { readIdempotencyKey } from '../http/request-headers.ts';
import type { Caller } from '../orders/check.ts';

/** The wallet of a request, and the id under which it is carried out once. */
export interface AccountRequest {
  readonly wallet: WalletAddress;
  readonly id: string;
}

/** An account action: its kind, amount and market. */
export interface AccountAction {
  readonly action: 'split' | 'merge' | 'redeem' | 'withdrawal';
  /** Condition id as text; empty for a withdrawal. */
  readonly condition: string;
  /** Micro-shares or micro-USDC; 0 for a redemption. */
  readonly amountMicro: number;
}

interface Sent {
  readonly id?: string;
  readonly wallet?: string;
}

/**
 * Reads the common part of an account action. The id is that of the body, else the `Idempotency-Key` where the
 * signature covers it: a captured request must not be sent again under another name (conventions.md 4.2).
 */
export function readAccountRequest(
  { id: given, wallet: named }: Sent,
  at: {
    readonly action: AccountAction['action'];
    readonly request: FastifyRequest;
    readonly caller: Caller;
  },
  owners: Pick<WalletOwners, 'isOwnedBy'>,
): AccountRequest | RefusalCode {
  // A captured body whose quotes were changed still has its HMAC, and another id.
  if (!at.caller.covers.exactBody) return 'invalid_l2';
  const header = readIdempotencyKey(at.request.headers['idempotency-key']);
  if (header === null) return 'idempotency_key_invalid';
  const wallet = named === undefined ? at.caller.address : parseWalletAddress(named);
  if (wallet === null || !owners.isOwnedBy(wallet, at.caller.address)) {
    return 'signer_mismatch';
  }
  const status = at.caller.statusOf(wallet);
  if (status === 'BANNED') return 'user_banned';
  if (status === 'CLOSED_ONLY' && at.action === 'split') return 'closed_only';
  const id = given ?? (at.caller.covers.idempotencyKey ? header : undefined);
  return id === undefined ? 'request_id_required' : { wallet, id };
}

/**
 * 32 bytes that follow from all that a request is for: the same request is the same on the log, and two that differ in
 * anything never share a reservation, whatever memory of requests was lost. The id comes last because only it can hold
 * a `|`.
 */
export function requestIdOf(
  { wallet, id }: AccountRequest,
  { action, condition, amountMicro }: AccountAction,
  keccak: Keccak,
): OrderId {
  const name = Buffer.from(`pm|${action}|${condition}|${amountMicro}|${id}`, 'utf8');
  return orderIdFromBytes(keccak(Buffer.concat([hexBytes(wallet), name])));
}

/** The identity of an account action. It is by wallet, so that every key of the wallet has the same memory. */
export function identityOf(
  { wallet, id }: AccountRequest,
  { action, condition, amountMicro }: AccountAction,
): IdempotentRequest {
  const meaning = [action, wallet, condition, amountMicro].join('|');
  const whose = { caller: wallet, wallet, kind: 'actions' } as const;
  return { ...whose, route: `account/${action}`, key: id, meaning, repeated: { id } };
}

/** The facts that texts of refusals may mention of an account action. */
export function accountFacts({ wallet }: Sent, caller: Caller): Record<string, string | number> {
  return { max: retryLimits.keyMaxChars, address: wallet ?? checksumAddress(caller.address) };
}

/**
 * A refusal as the response of an action. A refusal that waiting helps against is not final: the same id may be sent
 * again. The result of an unconfirmed one is not known yet.
 */
export function refusedAction(
  code: RefusalCode,
  body: object,
  seconds = retryAfterSeconds(code),
): HttpResponse {
  const { status, retry } = refusals[code];
  const headers = hasRetryAfter(code) ? { 'retry-after': String(seconds) } : {};
  const wait = seconds === undefined ? {} : { retryAfterSeconds: seconds };
  const kind = code === 'action_unconfirmed' ? 'open' : retry ? 'nothing' : 'final';
  return { kind, status, headers, body: refusalBody(code, {}, { ...wait, body: { ...body } }) };
}
