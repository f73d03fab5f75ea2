import type { ImportRefusal } from '@pm/domain/catalog/facts';
import { assert } from '@pm/kit/assert';
import { parseWalletAddress, type WalletAddress } from '@pm/schemas/ids';
import type { OperatorEntry, OperatorRole } from '@pm/schemas/operators';
import type { RefusalCode } from '@pm/schemas/refusals';
import type { FastifyReply, FastifyRequest } from 'fastify';

declare module 'fastify' {
  interface FastifyRequest {
    /** The operator whose token the request showed; null before that is known, and on other listeners. */
    operator?: OperatorEntry | null;
  }
  interface FastifyContextConfig {
    /** The role that opens a route of the operator's listener. */
    operatorRole?: OperatorRole;
  }
}

/** The operator that sends a request which was admitted. */
export function operatorOfRequest({ operator }: Pick<FastifyRequest, 'operator'>): OperatorEntry {
  assert(operator !== undefined && operator !== null, 'admitted requests have an operator');
  return operator;
}

/** Why a request of an operator was not carried out, or not confirmed. */
export interface OperatorProblem {
  readonly status: 400 | 403 | 404 | 409 | 503;
  readonly text: string;
  /** The place in the body that is wrong. */
  readonly path?: string;
  /** Why the matcher refused it, or the catalog. */
  readonly code?: RefusalCode;
}

/** Whether a result is a problem; statuses of wallets are texts. */
export function isProblem(result: object): result is OperatorProblem {
  return typeof Reflect.get(result, 'status') === 'number';
}

export function sendProblem(reply: FastifyReply, { status, text, path, code }: OperatorProblem) {
  const place = path === undefined ? {} : { path };
  return reply
    .code(status)
    .send({ error: text, ...place, ...(code === undefined ? {} : { code }) });
}

/** A body that is wrong, or conflicts with the catalog. */
export function problemOf({ path, reason, conflicts }: ImportRefusal): OperatorProblem {
  return { status: conflicts === true ? 409 : 400, text: `${path} ${reason}`, path };
}

export function notYet(text: string): OperatorProblem {
  return { status: 503, text: `${text}, try again` };
}

export function refused(text: string): OperatorProblem {
  return { status: 409, text };
}

export function forbidden(text: string): OperatorProblem {
  return { status: 403, text };
}

export const notFound: OperatorProblem = { status: 404, text: 'market not found' };
export const isResolved: OperatorProblem = refused('market is resolved');

/** Wallets in one response of a list. */
export const listedWalletsMax = 1_000;

/** The address of a text whose form a schema has checked. */
export function addressOf(text: string): WalletAddress {
  return parseWalletAddress(text) as WalletAddress;
}
