import { Fault } from '@pm/kit/fault';
import { rateRules } from '@pm/schemas/rate-limits';
import type { Caller } from '../../src/ratelimit/callers.ts';
import { countName, type Granted, type Want } from '../../src/ratelimit/leases.ts';
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
    const name = ({ rule, limit }: Want) => {
      const window = Math.floor(nowMs / (rule.seconds * 1000));
      return `${caller.kind}:${caller.id} ${countName(rule, limit)} ${window}`;
    };
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
    const used = new Map<string, number>();
    for (const [name, units] of this.#used) {
      const [caller, count = '', window] = name.split(' ');
      const rule = rateRules.find(({ field }) => count.startsWith(`${field}@`));
      const isNow = Number(window) === Math.floor(nowMs / ((rule?.seconds ?? 1) * 1000));
      if (caller === `${kind}:${id}` && isNow) used.set(count, units);
    }
    return { nowMs, used };
  }

  async reach(): Promise<void> {
    if (this.isAway) throw new Fault('redis_unavailable', 'retry');
  }
}
