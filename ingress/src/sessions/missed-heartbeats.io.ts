import type { Session } from '@pm/domain/sessions/session-table';
import type { Log } from '@pm/kit/log';
import type { ApiKeyId } from '@pm/schemas/ids';
import type { SessionPhase } from '@pm/schemas/log/sessions';
import type { SessionCancels } from './session-cancels.io.ts';
import type { SessionLog, SessionNews, WriteResult } from './session-log.io.ts';

export interface MissedHeartbeatLimits {
  /** Interval at which this process reports that it and the partitions are alive, milliseconds. */
  readonly pulseEveryMs: number;
  /** A process that was silent for so long cancels no more; another one takes over, milliseconds. */
  readonly claimAfterMs: number;
}

export interface MissedHeartbeatOptions {
  readonly log: SessionLog;
  readonly cancels: Pick<SessionCancels, 'cancel'>;
  readonly limits: MissedHeartbeatLimits;
  readonly monotonicMs: () => number;
  readonly logger: Log;
  /** A miss was written, revoked, or its orders are off the books so long after the last heartbeat was read. */
  onMissed(): void;
  onRevived(): void;
  onEnded(afterMs: number): void;
}

/** Misses written in one check; the next check is soon. */
const missesPerCheckMax = 1_000;
/** Missed sessions whose orders are being canceled at once. */
const endingsMax = 20_000;

/**
 * Notices silent sessions and has their orders canceled. There is no owner: every process does it, and the log decides.
 *
 *   silent for too long --MISSED--> counts? the writer cancels in every partition --ENDED--> the key may start again
 *                                   void?   a heartbeat came before it: nothing happens
 *
 * A miss that was decided before or in an outage is revoked by its writer (LIVE). A process that dies while it cancels
 * is replaced: another process writes MISSED once more and does it all again, which changes nothing that is done.
 */
export class MissedHeartbeats {
  readonly #options: MissedHeartbeatOptions;
  /** Keys about which something is being written or done. */
  readonly #busy = new Set<ApiKeyId>();
  readonly #doubtful = new Set<ApiKeyId>();
  /** When the last heartbeat of a missed session was read. */
  readonly #lastBeats = new Map<ApiKeyId, number>();
  #pulsedAtMs = Number.NEGATIVE_INFINITY;
  #isPulsing = false;

  constructor(options: MissedHeartbeatOptions) {
    this.#options = options;
    options.log.listen((news) => this.#take(news));
  }

  /** To be called a few times a second. */
  check(): void {
    const { log, monotonicMs } = this.#options;
    const nowMs = monotonicMs();
    this.#pulse(nowMs);
    for (const apiKey of log.silence.overdue(nowMs, missesPerCheckMax)) {
      this.#start(apiKey, 'LIVE', (session) => this.#miss(session));
    }
    for (const apiKey of log.table.uncovered) {
      const session = log.table.find(apiKey);
      if (session !== undefined) {
        this.#start(apiKey, session.phase, () => this.#write(session, session.phase));
      }
    }
    for (const apiKey of log.table.missed) {
      if (this.#busy.size >= endingsMax) break;
      this.#start(apiKey, 'MISSED', (session) => this.#end(session));
    }
  }

  #start(apiKey: ApiKeyId, phase: SessionPhase, act: (session: Session) => Promise<unknown>): void {
    const session = this.#options.log.table.find(apiKey);
    if (session?.phase !== phase || this.#busy.has(apiKey)) return;
    this.#busy.add(apiKey);
    act(session)
      .catch((error: unknown) => {
        this.#options.logger.error({ err: error }, 'a missed session was not ended, trying again');
      })
      .finally(() => this.#busy.delete(apiKey));
  }

  /** Makes this process the one that cancels; its record counts only if no other process wrote one before. */
  async #miss(session: Session): Promise<void> {
    if ((await this.#write(session, 'MISSED')) !== 'counted') return;
    if (session.phase === 'LIVE') this.#options.onMissed();
    const missed = this.#options.log.table.find(session.apiKey);
    if (missed?.phase === 'MISSED') await this.#end(missed);
  }

  async #end(session: Session): Promise<void> {
    const { log, cancels, limits, onRevived } = this.#options;
    if (session.writer !== log.self) {
      if (log.silenceOf(session.writer, session.apiKey) > limits.claimAfterMs)
        await this.#miss(session);
      return;
    }
    const isSo = () => log.table.find(session.apiKey) === session;
    const isStillSo = async () => (await log.catchUp(session.apiKey)) && isSo();
    if (this.#doubtful.has(session.apiKey)) {
      if ((await this.#write(session, 'LIVE')) === 'counted') onRevived();
    } else if (await cancels.cancel(session, { isSo, isStillSo })) {
      await this.#write(session, 'ENDED');
    }
  }

  #write(session: Session, phase: SessionPhase): Promise<WriteResult> {
    const { apiKey, wallet, heartbeatId, beatAtMs } = session;
    const change = { apiKey, wallet, heartbeatId, beatAtMs };
    return this.#options.log.write({ ...change, follows: session, phase });
  }

  #pulse(nowMs: number): void {
    const { log, limits, logger } = this.#options;
    if (this.#isPulsing || nowMs - this.#pulsedAtMs < limits.pulseEveryMs) return;
    this.#isPulsing = true;
    this.#pulsedAtMs = nowMs;
    log
      .pulse()
      .catch((error: unknown) => logger.warn({ err: error }, 'sessions take no records'))
      .finally(() => {
        this.#isPulsing = false;
      });
  }

  #take({ session, lastBeatReadAtMs, isDoubtful }: SessionNews): void {
    const { apiKey, phase, writer } = session;
    if (phase === 'MISSED') {
      // Only its writer revokes a miss, before it has canceled anything; a process that takes over may come after
      // cancels.
      if (isDoubtful && writer === this.#options.log.self) this.#doubtful.add(apiKey);
      else this.#doubtful.delete(apiKey);
      if (lastBeatReadAtMs !== undefined) this.#lastBeats.set(apiKey, lastBeatReadAtMs);
      return;
    }
    const readAtMs = this.#lastBeats.get(apiKey);
    this.#doubtful.delete(apiKey);
    this.#lastBeats.delete(apiKey);
    const { log, monotonicMs, onEnded } = this.#options;
    const isOurs = phase === 'ENDED' && writer === log.self;
    if (isOurs && readAtMs !== undefined) onEnded(monotonicMs() - readAtMs);
  }
}
