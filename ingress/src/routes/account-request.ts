import { refusalBody } from '@pm/kit/http';
import {
  checksumAddress,
  hexBytes,
  type OrderId,
  orderIdFromBytes,
  parseWalletAddress,
  type RefusalCode,
  refusals,
  retryLimits,
  type WalletAddress,
} from '@pm/schemas';
import type { FastifyRequest } from 'fastify';
import type { Caller } from '../core/check-order.ts';
import type { Keccak } from '../core/order-hash.ts';
import { readRetryKey } from '../core/retry-key.ts';
import type { DoorPorts } from './ports.ts';
import type { Answered, Retried } from './run-once.ts';

/** Whose account is meant, and the name under which the request is carried out once. */
export interface AccountRequest {
  readonly wallet: WalletAddress;
  readonly id: string;
}

/** What an account action does: which, for how much, and in which market. */
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
 * Reads the common part of an account action. The id is that of the body, else the `Idempotency-Key` where the signature
 * covers it: a captured request must not be sent again under another name (conventions.md 1.14).
 */
export function readAccountRequest(
  { id: given, wallet: named }: Sent,
  at: {
    readonly action: AccountAction['action'];
    readonly request: FastifyRequest;
    readonly caller: Caller;
  },
  { owners }: Pick<DoorPorts, 'owners'>,
): AccountRequest | RefusalCode {
  // A captured body whose quotes were changed still has its HMAC, and another id.
  if (!at.caller.signsExactBody) return 'invalid_l2';
  const header = readRetryKey(at.request.headers['idempotency-key']);
  if (header === null) return 'idempotency_key_invalid';
  const wallet = named === undefined ? at.caller.address : parseWalletAddress(named);
  if (wallet === null || !owners.isOwnedBy(wallet, at.caller.address)) {
    return 'signer_mismatch';
  }
  const status = at.caller.statusOf(wallet);
  if (status === 'BANNED') return 'user_banned';
  if (status === 'CLOSED_ONLY' && at.action === 'split') return 'closed_only';
  const id = given ?? (at.caller.signsIdempotencyKey ? header : undefined);
  return id === undefined ? 'request_id_required' : { wallet, id };
}

/**
 * 32 bytes that follow from all that a request is for: the same request is the same on the log, and two that differ in
 * anything never share a reservation, whatever memory of requests was lost. The id comes last because only it can hold a `|`.
 */
export function requestIdOf(
  { wallet, id }: AccountRequest,
  { action, condition, amountMicro }: AccountAction,
  keccak: Keccak,
): OrderId {
  const name = Buffer.from(`pm|${action}|${condition}|${amountMicro}|${id}`, 'utf8');
  return orderIdFromBytes(keccak(Buffer.concat([hexBytes(wallet), name])));
}

/** What is kept of an account action: by wallet, so that every key of the wallet meets the same memory. */
export function retriedOf(
  { wallet, id }: AccountRequest,
  { action, condition, amountMicro }: AccountAction,
): Retried {
  const meaning = [action, wallet, condition, amountMicro].join('|');
  return { caller: wallet, route: `account/${action}`, key: id, meaning, repeated: { id } };
}

/** What the texts of refusals may mention of an account action. */
export function accountFacts({ wallet }: Sent, caller: Caller): Record<string, string | number> {
  return { max: retryLimits.keyMaxChars, address: wallet ?? checksumAddress(caller.address) };
}

/**
 * A refusal as the answer of an action. What waiting helps against is no answer for ever: the same id may be sent again. Of
 * an unconfirmed one nobody knows yet.
 */
export function refusedAction(code: RefusalCode, body: object): Answered {
  const { status, retry } = refusals[code];
  const waits = [425, 429, 503].includes(status);
  const headers = waits ? { 'retry-after': '1' } : {};
  const extra = waits ? { retryAfterSeconds: 1, body: { ...body } } : { body: { ...body } };
  const kind = code === 'action_unconfirmed' ? 'open' : retry ? 'nothing' : 'final';
  return { kind, status, headers, body: refusalBody(code, {}, extra) };
}
