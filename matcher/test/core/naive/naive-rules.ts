import type { CommandOf, PlaceOrder } from '@pm/schemas/log/orders';
import type { MarketMode } from '@pm/schemas/log/types';
import { tickSizes } from '@pm/schemas/money';
import { NaiveCancels } from './naive-cancels.ts';
import { hex, type Waiting } from './naive-report.ts';

/** The clock of the naive twin, what the operator and the ledger say, and what is due by itself. */
export abstract class NaiveRules extends NaiveCancels {
  protected mode: MarketMode = 'OPEN';
  protected fillsLeft = 0;
  protected releasesLeft = 0;
  /** Who has claimed the partition, by term. */
  protected readonly owners: Buffer[] = [];

  /** A delay is over, or its market is. */
  protected abstract release(one: Waiting): undefined;

  /** Carries out everything that is due at the head of a record. */
  protected sweep(): undefined {
    this.expire();
    const ended = [...this.markets.values()].filter(({ mode }) => mode === 'RESOLVED');
    ended.sort((a, b) => a.rules.market - b.rules.market);
    for (const { rules } of ended) this.clear(rules.market);
    this.releaseDue();
  }

  private clear(market: number): undefined {
    this.empty(market);
    const ended = this.byRelease().filter(({ order }) => order.market === market);
    for (const one of ended.slice(0, this.releasesLeft)) this.releaseOne(one);
  }

  private releaseDue(): undefined {
    for (const one of this.byRelease()) {
      if (one.releaseAt === 0 || one.releaseAt > this.clock || this.releasesLeft === 0) return;
      if (this.fillsLeft <= this.limits.fillsPerRecord / 2) return;
      this.releaseOne(one);
    }
  }

  private releaseOne(one: Waiting): undefined {
    const { command } = this;
    this.releasesLeft -= 1;
    this.command = -1;
    this.release(one);
    this.command = command;
  }

  protected byRelease(): Waiting[] {
    const forTick = this.waiting.filter(({ releaseAt }) => releaseAt === 0);
    const delayed = this.waiting.filter(({ releaseAt }) => releaseAt !== 0);
    return [...delayed.sort((a, b) => a.releaseAt - b.releaseAt), ...forTick];
  }

  protected claim({ term, owner }: CommandOf<'ClaimPartition'>): undefined {
    if (!this.isNewest || term > this.owners.length + 1)
      return this.refuseCommand('invalid_payload');
    if (term !== this.owners.length + 1) return this.refuseCommand('fenced');
    this.owners.push(owner);
  }

  protected tick({ timeMs, term }: CommandOf<'Tick'>): undefined {
    const now = this.isNewest ? this.owners.length : term;
    if (term !== now) return this.refuseCommand(term < now ? 'fenced' : 'invalid_payload');
    const isLater = timeMs > this.clock;
    this.clock = Math.max(this.clock, timeMs);
    this.forget();
    this.forgetFences();
    if (this.isNewest) this.judge(isLater);
    this.expire();
    this.releaseDue();
  }

  /** Who waits for a tick is due behind all who are due; what was booked since the last one is in time, or late. */
  private judge(isLater: boolean): undefined {
    const held = this.waiting.filter(({ releaseAt }) => releaseAt === 0);
    const others = this.waiting.filter(({ releaseAt }) => releaseAt !== 0);
    this.waiting = [...others, ...held.map((one) => ({ ...one, releaseAt: this.clock }))];
    for (const one of this.resting) {
      if (one.judged !== 'new' || !isLater) continue;
      const isLate = one.order.acceptedAtMs + this.opening.bookAgeLimitMs < this.clock;
      one.judged = isLate ? 'late' : 'in time';
    }
  }

  protected override isMemoryFull(): boolean {
    const max = this.limits.rememberedIds;
    if (this.remembered.size + this.requests.size < max) return false;
    const all = [...this.remembered.values()].map(({ order }) => order.signedAtMs);
    return [...all, ...this.requests.values()].filter((ms) => !this.isOver(ms)).length >= max;
  }

  /** Ids go with the minute they were signed in. */
  private forget(): undefined {
    for (const [id, known] of this.remembered) {
      if (!this.isOver(known.order.signedAtMs)) continue;
      this.remembered.delete(id);
      this.older.set(id, known);
    }
    for (const id of this.older.keys()) if (!this.isOpen(id)) this.older.delete(id);
    for (const [id, ms] of this.requests) if (this.isOver(ms)) this.requests.delete(id);
  }

  protected isOver(ms: number): boolean {
    return this.clock > Math.floor(ms / 60_000) * 60_000 + 59_999 + this.opening.orderAgeLimitMs;
  }

  protected isAlive({ orderId }: PlaceOrder): boolean {
    return [...this.resting, ...this.waiting].some(({ order }) => order.orderId.equals(orderId));
  }

  protected startGeneration(generation: number): undefined {
    if (generation <= this.generation) return this.refuseCommand('invalid_payload');
    this.generation = generation;
    this.emit({ kind: 'GenerationStarted', command: this.command, generation });
  }

  protected setTradingMode(mode: MarketMode): undefined {
    if (mode === 'RESOLVED') return this.refuseCommand('invalid_payload');
    this.mode = mode;
    this.emit({ kind: 'TradingModeSet', command: this.command, mode });
  }

  protected setMarket(sent: CommandOf<'SetMarket'>): undefined {
    const known = this.markets.get(sent.market);
    const { tick, tickOnly, conditionId, token0, token1 } = sent;
    const ids = { conditionId, token0, token1 };
    const rules = tickOnly && known ? { ...known.rules, mode: known.mode, ...ids, tick } : sent;
    if (!(tickSizes as readonly number[]).includes(rules.tick) || sent.mode === 'RESOLVED') {
      return this.refuseCommand('invalid_payload');
    }
    if (sent.takerDelayMs < 0 || sent.takerDelayMs > 60_000) {
      return this.refuseCommand('invalid_payload');
    }
    if (tickOnly && !known) return this.refuseCommand('market_not_found');
    if (known) {
      const same = (['conditionId', 'token0', 'token1'] as const).every((field) =>
        known.rules[field].equals(rules[field]),
      );
      const finer = known.rules.tick % rules.tick === 0;
      if (!same || !finer || known.mode === 'RESOLVED')
        return this.refuseCommand('invalid_payload');
      Object.assign(known, { rules, mode: rules.mode });
    } else {
      this.markets.set(rules.market, { rules, mode: rules.mode, payout0: 0, collateral: 0 });
    }
    const { kind: _kind, token0: _a, token1: _b, tickOnly: _t, ...shown } = rules;
    this.emit({ kind: 'MarketSet', command: this.command, ...shown });
  }

  protected resolve({ market, payout0 }: CommandOf<'ResolveMarket'>): undefined {
    const known = this.markets.get(market);
    if (!known) return this.refuseCommand('market_not_found');
    if (known.mode === 'RESOLVED') return this.refuseCommand('market_resolved');
    if (payout0 < 0 || payout0 > 10_000) return this.refuseCommand('invalid_payload');
    Object.assign(known, { mode: 'RESOLVED', payout0 });
    this.clear(market);
    this.emit({ kind: 'MarketResolved', command: this.command, market, payout0 });
  }

  protected known(order: PlaceOrder): ReturnType<typeof this.remembered.get> {
    const id = hex(order.orderId);
    return this.remembered.get(id) ?? (this.isOpen(id) ? this.older.get(id) : undefined);
  }
}
