import type { Session } from '@pm/domain/sessions/session-table';
import type { HeartbeatId } from '@pm/schemas/ids';

/**
 * The claim of a heartbeat about its chain: none (`bare`), a new chain (`start`), or the id of the last response (null:
 * no id).
 */
export type HeartbeatClaim =
  | { readonly kind: 'bare' }
  | { readonly kind: 'start' }
  | { readonly kind: 'next'; readonly id: HeartbeatId | null };

export type HeartbeatDecision =
  /** It may go on the log: with a new id, or with the one the chain has. */
  | { readonly kind: 'write'; readonly keeps: HeartbeatId | null }
  /** The id is wrong; this one was expected, null when there is no chain. */
  | { readonly kind: 'wrong'; readonly expected: HeartbeatId | null }
  /** The orders of the missed session are still being canceled. */
  | { readonly kind: 'ending' };

/** The result of a heartbeat. */
export type HeartbeatResult =
  | { readonly kind: 'accepted'; readonly id: HeartbeatId }
  | Extract<HeartbeatDecision, { kind: 'wrong' }>
  /** It may have been accepted or not; the client tries again. */
  | {
      readonly kind: 'refused';
      readonly code: 'overloaded' | 'log_unavailable' | 'session_ending' | 'deposit_required';
    };

/**
 * The rule of the id chain (conventions.md 3.16). After a miss no id is right; a start waits until the orders of the
 * missed session are off the books, so that none of the new one is ever taken for an old one.
 */
export function decideHeartbeat(
  session: Session | undefined,
  claim: HeartbeatClaim,
): HeartbeatDecision {
  const current = session?.phase === 'LIVE' ? session.heartbeatId : null;
  if (claim.kind === 'next') {
    return claim.id !== null && claim.id === current
      ? { kind: 'write', keeps: null }
      : { kind: 'wrong', expected: current };
  }
  if (session?.phase === 'MISSED') return { kind: 'ending' };
  return { kind: 'write', keeps: claim.kind === 'bare' ? current : null };
}
