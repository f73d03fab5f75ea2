import type { Freshness } from '@pm/domain/accounts/auth-headers';
import type { KeyVerifier } from '@pm/domain/accounts/key-verifier';
import { clockSkewMs } from '@pm/domain/accounts/key-verifier';
import type { ReaderVerifier } from '@pm/domain/accounts/reader-verifier';
import { type Reader, showsReadKey } from '@pm/domain/accounts/reader-verifier';
import type { WalletStatuses } from '@pm/domain/wallets/wallet-statuses.io';
import type { Clock } from '@pm/kit/clock';
import { refuse } from '@pm/kit/http';
import { checksumAddress, type WalletAddress } from '@pm/schemas/ids';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Caller } from '../orders/check.ts';

/** The tables and limits that private requests are judged by. */
export interface Authentication {
  readonly clock: Pick<Clock, 'nowMs'>;
  /** Proves the API key of a private request. */
  readonly verify: KeyVerifier;
  /** Proves an API key or a read-only one. */
  readonly verifyReader: ReaderVerifier;
  readonly walletStatus: Pick<WalletStatuses, 'of'>;
  readonly freshness: Freshness;
}

/**
 * Proves the API key of a private request that changes something; null after the refusal was sent. Read-only keys and
 * banned wallets get refusals of their own (conventions.md 2.3, 2.5).
 */
export function authenticate(
  request: FastifyRequest,
  reply: FastifyReply,
  authentication: Authentication,
): Caller | null {
  const { clock, verify, verifyReader, walletStatus } = authentication;
  const facts = signedFacts(request);
  const holder = verify(facts);
  if (holder === null) {
    if (verifyReader(facts) === null) refuseUnproven(request, reply, authentication);
    else refuse(reply, 'read_only_key');
    return null;
  }
  const { wallet: address, ...proven } = holder;
  if (refuseBanned(address, reply, authentication)) return null;
  const statusOf: Caller['statusOf'] = (wallet) => walletStatus.of(wallet);
  const { arrivedAtMs, answerPlaces } = request;
  const client = request.server.countedAddress(request.raw);
  const nowMs = clock.nowMs();
  return { ...proven, address, client, nowMs, arrivedAtMs, answerPlaces, statusOf };
}

/** Whether the wallet is banned; then the refusal was sent. */
export function refuseBanned(
  wallet: WalletAddress,
  reply: FastifyReply,
  { walletStatus }: Pick<Authentication, 'walletStatus'>,
): boolean {
  if (walletStatus.of(wallet) !== 'BANNED') return false;
  refuse(reply, 'user_banned', { address: checksumAddress(wallet) });
  return true;
}

/** Proves whose private reads these are, by an API key or a read-only one; null after the refusal was sent. */
export function authenticateReader(
  request: FastifyRequest,
  reply: FastifyReply,
  authentication: Authentication,
): Reader | null {
  const reader = authentication.verifyReader(signedFacts(request));
  if (reader === null) refuseUnproven(request, reply, authentication);
  return reader;
}

/** The parts of a request that its HMAC covers. */
export function signedFacts({ method, url, headers, rawBody: body }: FastifyRequest) {
  return { method, url, headers, body };
}

/**
 * One refusal for every request that proves nothing; a clock that is off gets the distance (conventions.md 2.3, 2.4).
 */
export function refuseUnproven(
  { headers }: FastifyRequest,
  reply: FastifyReply,
  { clock, freshness }: Pick<Authentication, 'clock' | 'freshness'>,
): void {
  const nowMs = clock.nowMs();
  const skewMs = showsReadKey(headers) ? null : clockSkewMs(headers, { nowMs, freshness });
  if (skewMs === null) {
    refuse(reply, 'invalid_l2');
    return;
  }
  void reply.header('date', new Date(nowMs).toUTCString());
  const facts = { skew: (skewMs / 1000).toFixed(3), server: (nowMs / 1000).toFixed(3) };
  refuse(reply, 'timestamp_skew', facts, { body: { server_time: nowMs } });
}
