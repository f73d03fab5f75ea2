import {
  type ApiKeyId,
  apiKeyFromBytes,
  type HeartbeatId,
  heartbeatIdFromBytes,
} from '@pm/schemas/ids';
import type { SessionPhase, SessionRecord } from '@pm/schemas/log/sessions';

/** A session without a heartbeat for so long may be canceled, milliseconds (conventions.md 3.16). */
export const sessionPromiseMs = 10_000;

/** The newest state of an API key on the topic `sessions`. */
export interface Session {
  readonly apiKey: ApiKeyId;
  readonly wallet: Buffer;
  readonly sequence: number;
  readonly phase: SessionPhase;
  readonly heartbeatId: HeartbeatId;
  /** Hex of the process that wrote it; while MISSED it is the one that cancels. */
  readonly writer: string;
  readonly beatAtMs: number;
}

/**
 * The fold of the topic `sessions`, the same in every process: of records that follow one state the first counts, from
 * any process. So a heartbeat and a miss that race are decided by the log, and a miss never counts after a heartbeat
 * that its writer did not know.
 */
export class SessionTable {
  readonly #sessions = new Map<ApiKeyId, Session>();
  readonly #missed = new Set<ApiKeyId>();
  /** Keys whose newest record is a miss that does not count. */
  readonly #uncovered = new Set<ApiKeyId>();
  #live = 0;

  get size(): number {
    return this.#sessions.size;
  }

  get liveCount(): number {
    return this.#live;
  }

  /** Keys whose orders are being canceled, longest first. */
  get missed(): ReadonlySet<ApiKeyId> {
    return this.#missed;
  }

  /**
   * Keys whose newest record is a miss that lost. Compaction keeps the newest record, so the state has to be written
   * once more: a process that starts later would take the miss for true.
   */
  get uncovered(): ReadonlySet<ApiKeyId> {
    return this.#uncovered;
  }

  find(apiKey: ApiKeyId): Session | undefined {
    return this.#sessions.get(apiKey);
  }

  /** Takes the next record of a partition in; null when it does not count. */
  apply(record: SessionRecord): Session | null {
    const apiKey = apiKeyFromBytes(record.apiKey);
    const before = this.#sessions.get(apiKey);
    if (record.sequence <= (before?.sequence ?? 0)) {
      const isHidden =
        record.phase === 'MISSED' && before !== undefined && before.phase !== record.phase;
      if (isHidden) this.#uncovered.add(apiKey);
      return null;
    }
    const session: Session = {
      apiKey,
      wallet: record.wallet,
      sequence: record.sequence,
      phase: record.phase,
      heartbeatId: heartbeatIdFromBytes(record.heartbeatId),
      writer: record.writer.toString('hex'),
      beatAtMs: record.beatAtMs,
    };
    this.#sessions.set(apiKey, session);
    this.#uncovered.delete(apiKey);
    this.#live += Number(session.phase === 'LIVE') - Number(before?.phase === 'LIVE');
    if (session.phase === 'MISSED') this.#missed.add(apiKey);
    else this.#missed.delete(apiKey);
    return session;
  }
}
