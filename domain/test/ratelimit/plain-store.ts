import { Fault } from '@pm/kit/fault';
import { rateRules } from '@pm/schemas';
import type { Caller } from '../../src/ratelimit/callers.ts';
import type { Granted, Want } from '../../src/ratelimit/leases.ts';
import type { LimitStore } from '../../src/ratelimit/limiter.io.ts';

/** The store as the rule reads, without cleverness: a count per caller, rule and window. */
export class PlainStore implements LimitStore {
  readonly #used = new Map<string, number>();
  readonly #nowMs: () => number;
  isAway = false;
  calls = 0;

  constructor(nowMs: () => number) {
    this.#nowMs = nowMs;
  }

  takeNow(caller: Caller, wants: readonly Want[]): Granted {
    const nowMs = this.#nowMs();
    const name = ({ rule }: Want) =>
      `${caller.kind}:${caller.id} ${rule.field} ${Math.floor(nowMs / (rule.seconds * 1000))}`;
    const used = (want: Want) => this.#used.get(name(want)) ?? 0;
    const passes = wants.every((want) => used(want) + want.need <= want.limit);
    const grants = wants.map((want) => {
      const left = Math.max(0, want.limit - used(want));
      const granted = passes ? Math.min(left, want.need + want.more) : 0;
      if (passes) this.#used.set(name(want), used(want) + granted);
      return { granted, remaining: left - granted };
    });
    return { nowMs, grants };
  }

  async take(caller: Caller, wants: readonly Want[]): Promise<Granted> {
    this.calls += 1;
    await this.reach();
    return this.takeNow(caller, wants);
  }

  async used({ kind, id }: Caller): ReturnType<LimitStore['used']> {
    await this.reach();
    const nowMs = this.#nowMs();
    const used = rateRules.map(({ field, seconds }) => {
      const window = Math.floor(nowMs / (seconds * 1000));
      return [field, this.#used.get(`${kind}:${id} ${field} ${window}`) ?? 0] as const;
    });
    return { nowMs, used: new Map(used) };
  }

  async reach(): Promise<void> {
    if (this.isAway) throw new Fault('redis_unavailable', 'retry');
  }
}
