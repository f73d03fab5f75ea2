import { Random } from '@pm/kit/random';
import type { Command, CommandOf, Envelope, PlaceOrder } from '@pm/schemas/log/orders';
import type { TimeInForce } from '@pm/schemas/log/types';
import { holdMicro } from '@pm/schemas/money';
import type { Limits } from '../../src/core/index.ts';
import {
  apiKeyOf,
  builderOf,
  cancelAll,
  envelopeOf,
  lotMicro,
  marketRules,
  orderIdOf,
  orderOf,
  requestIdOf,
  signerOf,
  splitOf,
  startMs,
  walletOf,
} from './commands.ts';

/** Limits that a random log reaches often, but that of ids. */
export const tightLimits: Limits = {
  fillsPerOrder: 3,
  fillsPerRecord: 5,
  cancelsPerRecord: 2,
  releasesPerRecord: 2,
  fences: 3,
  fencedIds: 5,
  fencedIdsPerSigner: 3,
  rememberedIds: 1_000_000,
};

/** One record of a random log. */
export interface RandomRecord {
  readonly envelope: Envelope;
  readonly isOperator: boolean;
}

/**
 * A seeded stream of records that visits every rule: few wallets, few prices and full queues, so that orders meet,
 * repeat, expire and meet orders of their own wallet. Markets are resolved and new ones listed. The same seed gives the
 * same log.
 */
export class RandomLog {
  private readonly random: Random;
  private clockMs = startMs;
  private generation = 0;
  private nextId = 1;
  private nextRequest = 1;
  private nextMarket = 1;
  /** Markets in use and the rules they had last; the oldest is resolved first. */
  private readonly open: CommandOf<'SetMarket'>[] = [];
  private readonly resolved: number[] = [];
  private readonly recent: PlaceOrder[] = [];

  /** For those whose time to book ticks judge; apart, so that logs of older rules stay as they are. */
  private readonly times: Random | null;

  /**
   * `isNewest`: whether the log has the newest rules: cancels by ids, and orders with times that only these judge.
   * Others are logs of the versions before, which golden vectors were made of.
   */
  constructor(seed: number, isNewest = false) {
    this.random = new Random(seed);
    this.times = isNewest ? new Random(seed + 2_000_000) : null;
  }

  next(): RandomRecord {
    const roll = this.random.below(1000);
    if (this.open.length < 3 || roll < 2) return this.byOperator([this.listMarket()]);
    if (roll < 14) return this.byOperator(this.operatorCommands());
    if (roll < 120) return { envelope: envelopeOf([this.tick()]), isOperator: false };
    const count = this.random.below(4) === 0 ? 1 + this.random.below(24) : 1 + this.random.below(4);
    const commands = Array.from({ length: count }, () => this.ingressCommand());
    return { envelope: envelopeOf(commands), isOperator: false };
  }

  private byOperator(commands: readonly Command[]): RandomRecord {
    return { envelope: envelopeOf(commands, 'OPERATOR'), isOperator: true };
  }

  private listMarket(): Command {
    const tick = this.random.pick([1000, 100, 100, 100, 25]);
    const feeRateBps = this.random.pick([0, 100, 441, 700]);
    const market = 1 + ((this.nextMarket * 7) % 1009);
    this.nextMarket += 1;
    const takerDelayMs = this.random.pick([0, 0, 0, 1, 500, 3_000, 45_000]);
    this.open.push(marketRules(market, { tick, feeRateBps, takerDelayMs }));
    return this.open[this.open.length - 1] as Command;
  }

  private operatorCommands(): Command[] {
    const rules = this.random.pick(this.open);
    const roll = this.random.below(14);
    if (roll < 2 && this.open.length > 3) return [this.resolve()];
    if (roll < 4) return [this.changeRules(rules)];
    if (roll < 6) {
      const mode = this.random.pick([
        'POST_ONLY',
        'CANCEL_ONLY',
        'HALTED',
        'OPEN',
        'RESOLVED',
      ] as const);
      return [
        { ...rules, mode },
        cancelAll({ market: rules.market, outcome: this.random.below(3) - 1 }),
      ];
    }
    if (roll < 7 && this.random.below(4) === 0) {
      this.generation += 1;
      return [{ kind: 'StartGeneration', generation: this.generation }];
    }
    if (roll < 8) return [{ kind: 'StartGeneration', generation: this.generation }];
    if (roll < 9) return [cancelAll({ outcome: 0 }), cancelAll({ signer: this.signer() })];
    if (roll < 12) return [{ ...rules, mode: 'OPEN' }];
    const mode = this.random.pick(['POST_ONLY', 'CANCEL_ONLY', 'HALTED', 'RESOLVED'] as const);
    return [{ kind: 'SetTradingMode', mode: this.random.below(3) === 0 ? mode : 'OPEN' }];
  }

  private resolve(): Command {
    const { market } = this.open.shift() as CommandOf<'SetMarket'>;
    this.resolved.push(market);
    if (this.resolved.length > 3) this.resolved.shift();
    return { kind: 'ResolveMarket', market, payout0: this.random.pick([0, 10_000, 5_000, 3_300]) };
  }

  private changeRules(rules: CommandOf<'SetMarket'>): Command {
    const tick = this.random.pick([1000, 100, 50, 25, 10, 7]);
    const takerDelayMs = this.random.pick([0, 500, 2_000, 60_000, 60_001]);
    const tickOnly = this.random.below(4) === 0;
    const minSizeMicro = this.random.pick([1, 5]) * 1_000_000;
    const changed = { ...rules, tick, takerDelayMs, minSizeMicro, tickOnly };
    const isSound = rules.tick % tick === 0 && tick !== 7 && takerDelayMs <= 60_000;
    const known = tickOnly ? { ...rules, tick } : changed;
    if (isSound) this.open[this.open.indexOf(rules)] = known;
    return changed;
  }

  private tick(): Command {
    const stepMs = this.random.pick([1, 50, 500, 500, 1_000, 20_000, -300]);
    this.clockMs = Math.max(this.clockMs, this.clockMs + stepMs);
    return { kind: 'Tick', term: 0, timeMs: stepMs < 0 ? this.clockMs + stepMs : this.clockMs };
  }

  private ingressCommand(): Command {
    const roll = this.random.below(100);
    if (roll < 62) return this.place();
    if (roll < 80) return this.cancelOne(roll);
    if (roll < 84) return this.cancelMany();
    if (roll < 87) return { ...(this.recentOrder() ?? this.place()) };
    return this.moveTokens(roll);
  }

  private moveTokens(roll: number): Command {
    const wallet = this.wallet();
    const isOld = this.random.below(10) === 0;
    const request = isOld ? this.random.below(this.nextRequest) : this.nextRequest++;
    const sizeMicro = this.size();
    if (roll < 95) {
      const split = splitOf(request, wallet, sizeMicro, this.market());
      const acceptedAtMs = roll === 94 ? this.clockMs - 2_000 : this.clockMs - 100;
      return { ...split, generation: this.generation, acceptedAtMs } as Command;
    }
    const base = { requestId: requestIdOf(request), wallet: walletOf(wallet) };
    if (roll < 98) return { kind: 'MergePosition', ...base, market: this.market(), sizeMicro };
    const market = this.random.below(3) === 0 ? this.market() : (this.resolved[0] ?? 0);
    return { kind: 'RedeemPosition', ...base, market };
  }

  private place(): PlaceOrder {
    const wallet = this.wallet();
    const rules = this.random.pick(this.open);
    const timeInForce = this.random.pick<TimeInForce>([
      'GTC',
      'GTC',
      'GTC',
      'GTD',
      'GTD',
      'FAK',
      'FOK',
    ]);
    const steps = 10_000 / rules.tick;
    const near = Math.round(steps / 2) + this.random.below(7) - 3;
    const price = rules.tick * Math.min(steps - 1, Math.max(1, near));
    const base = orderOf(this.nextId, wallet, {
      market: rules.market,
      outcome: this.random.below(2),
      side: this.random.pick(['BUY', 'SELL']),
      timeInForce,
      price,
      sizeMicro: this.size(),
      postOnly: this.random.below(8) === 0,
      expiresAtMs: timeInForce === 'GTD' ? this.clockMs + this.random.below(60_000) : 0,
      acceptedAtMs: this.clockMs + this.random.below(1_000) - 500,
      signedAtMs: this.clockMs - this.random.below(90_000),
      generation: this.generation,
      apiKey: apiKeyOf(wallet * 2 + this.random.below(2)),
      builder: builderOf(this.random.below(3)),
      selfTrade: this.random.pick(['CANCEL_NEWEST', 'CANCEL_OLDEST', 'CANCEL_BOTH', 'ALLOW']),
    });
    this.nextId += 1;
    const timed =
      this.times === null
        ? base
        : this.timed({ ...base, signer: signerFor(wallet, this.times) }, this.times);
    const order =
      this.random.below(12) === 0 ? this.spoil(timed) : this.funded(timed, rules.feeRateBps);
    this.recent[this.nextId % recentMax] = order;
    return order;
  }

  /** Limits of its own, times while the clock stood, and the least lifetime of a GTD order. */
  private timed(order: PlaceOrder, random: Random): PlaceOrder {
    const ageLimitMs = random.below(4) === 0 ? random.pick([1, 50, 500, 1_000, 2_500, 60_000]) : 0;
    const aheadMs = random.pick([0, 0, 0, 0, 0, 0, 600, 1_100, 1_600, 2_500, 20_000]);
    const acceptedAtMs = order.acceptedAtMs + aheadMs;
    const spareMs = random.pick([-1, 0, 1, 1_000, 10_000, 30_000, 60_000]);
    const leastMs = Math.floor(acceptedAtMs / 1_000) * 1_000 + 120_000;
    const expiresAtMs = order.timeInForce === 'GTD' ? leastMs + spareMs : 0;
    return { ...order, ageLimitMs, acceptedAtMs, expiresAtMs };
  }

  /** Holds exactly what is needed, and turns some takers into market buys. */
  private funded(order: PlaceOrder, feeRateBps: number): PlaceOrder {
    const takes = order.timeInForce === 'FOK' || order.timeInForce === 'FAK';
    const spends = takes && order.side === 'BUY' && this.random.below(2) === 0;
    const budgetMicro = spends ? 5_000 + this.random.below(20_000_000) : 0;
    const whole = { ...order, budgetMicro };
    return { ...whole, holdMicro: holdMicro({ ...whole, feeRateBps }) };
  }

  private spoil(order: PlaceOrder): PlaceOrder {
    const spoiled = this.random.pick<Partial<PlaceOrder>>([
      { market: 5_000 },
      { outcome: 2 },
      { signedAtMs: this.clockMs - 200_000 },
      { signedAtMs: this.clockMs + 300_001 },
      { acceptedAtMs: this.clockMs - 2_001 },
      { acceptedAtMs: this.clockMs + 900, ageLimitMs: 800 },
      { generation: this.generation - 1 },
      { price: order.price + 1 },
      { price: 10_000 },
      { sizeMicro: lotMicro * 7 },
      { sizeMicro: order.sizeMicro + 1 },
      { sizeMicro: 0 },
      { budgetMicro: 1_000_000 },
      { budgetMicro: 10 },
      { expiresAtMs: this.clockMs },
      { holdMicro: 0 },
      { sizeMicro: 9_000_000 * 1_000_000 },
      { postOnly: true, timeInForce: 'FAK' },
    ]);
    return { ...order, ...spoiled };
  }

  private cancelOne(roll: number): Command {
    const order = this.recentOrder();
    const signer = this.random.below(15) === 0 ? this.signer() : (order?.signer ?? this.signer());
    if (this.times !== null && roll >= 76) return this.cancelByIds(order, signer);
    return { kind: 'CancelOrder', orderId: order?.orderId ?? orderIdOf(0), signer };
  }

  /** A known order, one that is unknown, and orders that come next; no random number more than for one order. */
  private cancelByIds(order: PlaceOrder | undefined, signer: Buffer): Command {
    const ids = [order?.orderId ?? orderIdOf(0), orderIdOf(0)];
    const next = [0, 1, 2, 3].map((ahead) => orderIdOf(this.nextId + ahead));
    const acceptedAtMs = this.clockMs + (this.nextId % 5_000) - 2_500;
    return { kind: 'CancelByIds', signer, orderIds: [...ids, ...next], acceptedAtMs };
  }

  private cancelMany(): Command {
    const wallet = this.wallet();
    return cancelAll({
      signer: this.random.below(3) === 0 ? null : signerOf(wallet),
      apiKey: this.random.below(2) === 0 ? null : apiKeyOf(wallet * 2 + this.random.below(2)),
      market: this.random.below(2) === 0 ? -1 : this.market(),
      outcome: this.random.below(3) - 1,
      session: this.random.below(2) === 0,
      acceptedAtMs:
        this.random.below(3) === 0 ? 0 : this.clockMs + this.random.below(6_000) - 3_500,
    });
  }

  private recentOrder(): PlaceOrder | undefined {
    return this.recent[this.random.below(recentMax)];
  }

  private market(): number {
    return this.random.below(30) === 0 ? 5_000 : this.random.pick(this.open).market;
  }

  private wallet(): number {
    return 1 + this.random.below(7);
  }

  private signer(): Buffer {
    return signerOf(this.wallet());
  }

  private size(): number {
    return lotMicro * (100 + this.random.below(3_000));
  }
}

/** Wallets 6 and 7 have one owner. Some orders of each wallet are signed by another one. */
function signerFor(wallet: number, random: Random): Buffer {
  return signerOf(random.below(20) === 0 ? 8 : Math.min(wallet, 6));
}

/** Orders that cancels and repetitions choose from. */
const recentMax = 150;
