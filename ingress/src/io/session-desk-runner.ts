import { randomUUID } from 'node:crypto';
import { present } from '@pm/kit/assert';
import type { Clock } from '@pm/kit/clock';
import {
  type ApiKeyId,
  type HeartbeatId,
  hexBytes,
  parseHeartbeatId,
  type WalletAddress,
} from '@pm/schemas';
import { decideHeartbeat, type HeartbeatClaim, type HeartbeatOutcome } from '../core/heartbeat.ts';
import type { SessionLog } from './session-log-store.ts';

export interface SessionDeskOptions {
  readonly log: SessionLog;
  readonly clock: Clock;
  /** Told of each outcome. */
  onBeat(outcome: HeartbeatOutcome['kind']): void;
  /** How long a heartbeat waits for the end of the session before it, milliseconds. */
  readonly endingWaitMs?: number;
}

/** The end of a missed session takes two round trips to the log when all partitions work. */
const sessionEndingWaitMs = 2_000;
/** Somebody who loses so many races in a row beats from too many places at once. */
const triesMax = 8;

/**
 * Takes heartbeats. One is accepted when its record is durable and read back as one that counts; of two with the same id,
 * also at two processes, the log decides which.
 */
export class SessionDesk {
  readonly #options: SessionDeskOptions;

  constructor(options: SessionDeskOptions) {
    this.#options = options;
  }

  async beat(
    holder: { readonly apiKey: ApiKeyId; readonly address: WalletAddress },
    claim: HeartbeatClaim,
  ): Promise<HeartbeatOutcome> {
    const outcome = await this.#take(holder, claim);
    this.#options.onBeat(outcome.kind);
    return outcome;
  }

  async #take(
    { apiKey, address }: { readonly apiKey: ApiKeyId; readonly address: WalletAddress },
    claim: HeartbeatClaim,
  ): Promise<HeartbeatOutcome> {
    const { log, clock } = this.#options;
    const untilMs = clock.monotonicMs() + (this.#options.endingWaitMs ?? sessionEndingWaitMs);
    for (let tries = 0; tries < triesMax; tries += 1) {
      const follows = log.table.find(apiKey);
      const decision = decideHeartbeat(follows, claim);
      if (decision.kind === 'wrong') return decision;
      if (decision.kind === 'ending') {
        const isChanged = await log.changed(apiKey, untilMs - clock.monotonicMs());
        if (!isChanged) return { kind: 'refused', code: 'session_ending' };
        continue;
      }
      const id = decision.keeps ?? newHeartbeatId();
      const change = { apiKey, wallet: hexBytes(address), follows, phase: 'LIVE' as const };
      const written = await log.write({ ...change, heartbeatId: id, beatAtMs: clock.nowMs() });
      if (written === 'counted') return { kind: 'accepted', id };
      if (written !== 'void') break;
    }
    return { kind: 'refused', code: 'overloaded' };
  }
}

function newHeartbeatId(): HeartbeatId {
  return present(parseHeartbeatId(randomUUID()), 'a UUID is an id of a heartbeat');
}
