import type { Clock } from '@pm/kit/clock';
import type { FastifyReply } from 'fastify';
import type { CommandResult } from '../commands/result-waiters.ts';

/** Stages of a placement or cancel, in their order. */
const stages = ['auth', 'validate', 'reserve', 'log', 'match'] as const;
export type TimedStage = (typeof stages)[number];

/**
 * The milliseconds that each stage of a request took. The orders of a batch run together: each stage is that of the
 * slowest order. Returned as `Server-Timing` (conventions.md 3.10).
 */
export class StageTimes {
  readonly #clock: Pick<Clock, 'monotonicMs'>;
  readonly #ms: Partial<Record<TimedStage, number>> = {};
  /** When the first stage began, milliseconds of the monotonic clock. */
  readonly beganMs: number;
  #lastMs: number;

  constructor(clock: Pick<Clock, 'monotonicMs'>) {
    this.#clock = clock;
    this.beganMs = clock.monotonicMs();
    this.#lastMs = this.beganMs;
  }

  /** The stage that ends now began when the one before was marked. */
  mark(stage: TimedStage): void {
    const nowMs = this.#clock.monotonicMs();
    this.add(stage, nowMs - this.#lastMs);
    this.#lastMs = nowMs;
  }

  /** The time of one of several that run together. */
  add(stage: TimedStage, ms: number): void {
    this.#ms[stage] = Math.max(this.#ms[stage] ?? 0, ms);
  }

  /** Milliseconds of a stage; 0 for one that was not reached. */
  msOf(stage: TimedStage): number {
    return this.#ms[stage] ?? 0;
  }

  /** The times that a command spent on its way to the log and in the matcher. */
  addLog(result: CommandResult): void {
    if (result.kind !== 'executed' || result.times === undefined) return;
    this.add('log', result.times.logMs);
    this.add('match', result.times.matchMs);
  }

  writeTo(reply: FastifyReply): void {
    void reply.header('server-timing', this.text());
  }

  /** `auth;dur=0.12, validate;dur=0.30, log;dur=3.41, match;dur=1.20`; stages that were not reached are left out. */
  text(): string {
    let text = '';
    for (const stage of stages) {
      const ms = this.#ms[stage];
      if (ms === undefined) continue;
      text += `${text === '' ? '' : ', '}${stage};dur=${ms.toFixed(2)}`;
    }
    return text;
  }
}
