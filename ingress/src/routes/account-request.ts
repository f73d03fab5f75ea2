import { randomUUID } from 'node:crypto';
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
import type { Answered } from './run-once.ts';

/** Whose account is meant, and the name under which the request is carried out once. */
export interface AccountRequest {
  readonly wallet: WalletAddress;
  readonly id: string;
  /** 32 bytes that follow from wallet, action and id: the same request is the same on the log. */
  readonly requestId: OrderId;
}

interface Sent {
  readonly id?: string;
  readonly wallet?: string;
}

/**
 * Reads the common part of an account action. The id is that of the body, else the `Idempotency-Key`, else a new one, which
 * the answer tells.
 */
export function readAccountRequest(
  { id: given, wallet: named }: Sent,
  at: { readonly action: string; readonly request: FastifyRequest; readonly caller: Caller },
  ports: Pick<DoorPorts, 'owners'> & { readonly keccak: Keccak },
): AccountRequest | RefusalCode {
  const header = readRetryKey(at.request.headers['idempotency-key']);
  if (header === null) return 'idempotency_key_invalid';
  const wallet = named === undefined ? at.caller.address : parseWalletAddress(named);
  if (wallet === null || !ports.owners.isOwnedBy(wallet, at.caller.address)) {
    return 'signer_mismatch';
  }
  const status = at.caller.statusOf(wallet);
  if (status === 'BANNED') return 'user_banned';
  if (status === 'CLOSED_ONLY' && at.action === 'split') return 'closed_only';
  const id = given ?? header ?? randomUUID();
  const name = Buffer.from(`pm|${at.action}|${id}`, 'utf8');
  const hash = ports.keccak(Buffer.concat([hexBytes(wallet), name]));
  return { wallet, id, requestId: orderIdFromBytes(hash) };
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
