import { randomUUID } from 'node:crypto';
import type { Session } from '@pm/domain/sessions/session-table';
import { present } from '@pm/kit/assert';
import type { Clock } from '@pm/kit/clock';
import {
  type ApiKeyId,
  type HeartbeatId,
  hexBytes,
  parseHeartbeatId,
  type WalletAddress,
} from '@pm/schemas/ids';
import { freeEntries } from '@pm/schemas/redis/held-entries';
import type { EntryQuota } from '../accounts/entry-quota.io.ts';
import { decideHeartbeat, type HeartbeatClaim, type HeartbeatResult } from './decide-heartbeat.ts';
import type { SessionLog } from './session-log.io.ts';

export interface HeartbeatsOptions {
  readonly log: SessionLog;
  readonly clock: Clock;
  readonly entryQuota: Pick<EntryQuota, 'admits'>;
  /** Called with each result. */
  onBeat(result: HeartbeatResult['kind']): void;
  /** How long a heartbeat waits for the end of the session before it, milliseconds. */
  readonly endingWaitMs?: number;
}

/** The end of a missed session takes two round trips to the log when all partitions work. */
const sessionEndingWaitMs = 2_000;
/** A key that loses so many races in a row beats from too many places at once. */
const triesMax = 8;

/** The API key that beats, proven by its request. */
interface SessionHolder {
  readonly apiKey: ApiKeyId;
  readonly address: WalletAddress;
}

const overloaded: HeartbeatResult = { kind: 'refused', code: 'overloaded' };
const logUnavailable: HeartbeatResult = { kind: 'refused', code: 'log_unavailable' };

/**
 * Takes heartbeats. One is accepted when its record is durable and read back as one that counts; of two with the same
 * id, also at two processes, the log decides which.
 */
export class Heartbeats {
  readonly #options: HeartbeatsOptions;

  constructor(options: HeartbeatsOptions) {
    this.#options = options;
  }

  async beat(holder: SessionHolder, claim: HeartbeatClaim): Promise<HeartbeatResult> {
    const result = await this.#take(holder, claim);
    this.#options.onBeat(result.kind);
    return result;
  }

  async #take(holder: SessionHolder, claim: HeartbeatClaim): Promise<HeartbeatResult> {
    const { clock, endingWaitMs } = this.#options;
    const untilMs = clock.monotonicMs() + (endingWaitMs ?? sessionEndingWaitMs);
    const attempt = { untilMs, isCaughtUp: false };
    for (let tries = 0; tries < triesMax; tries += 1) {
      const result = await this.#try(holder, claim, attempt);
      if (result !== null) return result;
    }
    return overloaded;
  }

  /** Null when what was known has changed meanwhile. */
  async #try(
    holder: SessionHolder,
    claim: HeartbeatClaim,
    attempt: { readonly untilMs: number; isCaughtUp: boolean },
  ): Promise<HeartbeatResult | null> {
    const { log, clock } = this.#options;
    const follows = log.table.find(holder.apiKey);
    const decision = decideHeartbeat(follows, claim);
    if (decision.kind === 'wrong') {
      if (attempt.isCaughtUp) return decision;
      // The right id may just have been given out by another process.
      attempt.isCaughtUp = await log.catchUp(holder.apiKey);
      return attempt.isCaughtUp ? null : logUnavailable;
    }
    if (decision.kind === 'ending') {
      const waitMs = attempt.untilMs - clock.monotonicMs();
      const isChanged = await log.changed(holder.apiKey, waitMs);
      return isChanged ? null : { kind: 'refused', code: 'session_ending' };
    }
    if (follows === undefined && !(await this.#hasRoom(holder))) {
      return { kind: 'refused', code: 'deposit_required' };
    }
    return await this.#write(holder, follows, decision.keeps ?? newHeartbeatId());
  }

  /** For the first heartbeat of a key; its session is remembered for ever. */
  #hasRoom({ address }: SessionHolder): Promise<boolean> {
    const { log, entryQuota } = this.#options;
    return entryQuota.admits({ entries: log.table.size, free: freeEntries.sessions }, address);
  }

  async #write(
    { apiKey, address }: SessionHolder,
    follows: Session | undefined,
    id: HeartbeatId,
  ): Promise<HeartbeatResult | null> {
    const change = { apiKey, wallet: hexBytes(address), follows, phase: 'LIVE' as const };
    const beatAtMs = this.#options.clock.nowMs();
    const written = await this.#options.log.write({ ...change, heartbeatId: id, beatAtMs });
    if (written === 'counted') return { kind: 'accepted', id };
    if (written === 'void') return null;
    return written === 'full' ? overloaded : logUnavailable;
  }
}

function newHeartbeatId(): HeartbeatId {
  return present(parseHeartbeatId(randomUUID()), 'a UUID is an id of a heartbeat');
}
