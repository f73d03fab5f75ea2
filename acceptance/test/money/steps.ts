import { Random } from '@pm/kit/random';
import fc from 'fast-check';
import type { Fate } from './parked-calls.ts';
import { type AskedAction, Requests, type SignedContent } from './requests.ts';
import { partitionCount, type SimulatedExchange, walletCount } from './simulated-exchange.ts';

/**
 * One step of a history. Numbers choose among what there is at that moment, so that a history without some of its steps
 * is one as well: that is what makes it shrink.
 */
export type Step =
  | (Place & { readonly kind: 'place' })
  | {
      readonly kind: 'placeAgain';
      readonly which: number;
      readonly at: At;
      readonly stale: boolean;
    }
  | (Act & { readonly kind: 'act' })
  /** An earlier action again: the same, or under its id with another amount or market. */
  | { readonly kind: 'actAgain'; readonly which: number; readonly at: At; readonly change: number }
  | { readonly kind: 'cancel'; readonly which: number; readonly at: At }
  | {
      readonly kind: 'cancelAll';
      readonly wallet: number;
      readonly market: number;
      readonly at: At;
    }
  | {
      readonly kind: 'deposit';
      readonly number: number;
      readonly wallet: number;
      readonly lots: number;
    }
  /** So many parked calls go on, chosen by a seed, with what becomes of them. */
  | { readonly kind: 'go'; readonly count: number; readonly seed: number }
  | { readonly kind: 'match'; readonly partition: number; readonly count: number }
  | {
      readonly kind: 'fold';
      readonly process: number;
      readonly partition: number;
      readonly count: number;
    }
  | { readonly kind: 'foldTransfers'; readonly process: number; readonly count: number }
  | { readonly kind: 'check' | 'killProjector'; readonly process: number }
  | { readonly kind: 'tick'; readonly ms: number }
  | { readonly kind: 'arrive'; readonly which: number; readonly drops: boolean }
  | { readonly kind: 'killIngress'; readonly which: number; readonly drops: boolean }
  | { readonly kind: 'fee'; readonly market: number; readonly bps: number }
  | { readonly kind: 'resolve'; readonly market: number; readonly payout0: number }
  | { readonly kind: 'takeOver'; readonly partition: number }
  | { readonly kind: Upkeep };

type Upkeep = 'loseRedis' | 'saveRedis' | 'rewindRedis' | 'forgetRetries' | 'settle';

/** The process that a request goes to, and the key of its wallet that sends it. */
interface At {
  readonly ingress: number;
  readonly key: number;
}

interface Place {
  readonly orders: readonly Omit<SignedContent, 'number' | 'signedAtMs'>[];
  readonly at: At;
  readonly stale: boolean;
  /** 0: the request has no idempotency key. */
  readonly retryKey: number;
  /** It waits for its turn at the gateway. */
  readonly waits: boolean;
}

interface Act {
  readonly asked: Omit<AskedAction, 'id'> & { readonly id: number };
  readonly at: At;
}

/** Markets from which histories choose; those of even numbers delay takers. */
const marketsMax = 6;

/** Runs histories step by step. */
export class History {
  readonly requests: Requests;
  readonly #exchange: SimulatedExchange;
  #market = marketsMax;

  constructor(exchange: SimulatedExchange) {
    this.#exchange = exchange;
    this.requests = new Requests(exchange);
  }

  async run(steps: readonly Step[]): Promise<void> {
    for (const step of steps) await this.step(step);
    await this.finish();
  }

  /** The end of a history: everything settles, then everything is judged. */
  async finish(): Promise<void> {
    const exchange = this.#exchange;
    await exchange.settle();
    this.requests.judge();
    await exchange.compareLedger();
  }

  async step(step: Step): Promise<void> {
    const exchange = this.#exchange;
    const { log } = exchange;
    switch (step.kind) {
      case 'go':
        return this.#go(step);
      case 'match':
        return log.match(step.partition, step.count);
      case 'fold':
        return exchange
          .projector(step.process)
          .fold(step.partition, step.count, step.count % 4 !== 0);
      case 'foldTransfers':
        return exchange.projector(step.process).foldTransfers(step.count, step.count % 4 !== 0);
      case 'tick':
        return exchange.tick(step.ms);
      case 'takeOver':
        return log.takeOver(step.partition);
      case 'killIngress':
        return exchange.killIngress(step.which, !step.drops);
      case 'arrive': {
        const [arrive] = log.late.splice(step.which % Math.max(1, log.late.length), 1);
        if (!step.drops) await arrive?.();
        return;
      }
      default:
        return this.#other(step);
    }
  }

  async #other(step: Step): Promise<void> {
    const exchange = this.#exchange;
    switch (step.kind) {
      case 'fee': {
        const { partition } = exchange.market(this.#marketOf(step.market));
        return exchange.list(this.#marketOf(step.market), partition, step.bps);
      }
      case 'resolve':
        return exchange.resolve(this.#marketOf(step.market), step.payout0);
      case 'killProjector':
        return exchange.killProjector(step.process);
      case 'loseRedis':
        return exchange.loseRedis();
      case 'saveRedis':
        return exchange.saveRedis();
      case 'rewindRedis':
        return exchange.rewindRedis();
      case 'forgetRetries':
        return exchange.forgetRetries();
      case 'check':
        return exchange.projector(step.process).check();
      case 'settle':
        return exchange.settle();
      default:
        return this.#request(step);
    }
  }

  #request(step: Step): void {
    const { requests } = this;
    switch (step.kind) {
      case 'place':
        this.#place(step);
        break;
      case 'act': {
        const { id, market, ...asked } = step.asked;
        const action = { ...asked, market: this.#marketOf(market), id: `id-${id}` };
        requests.actions.push(action);
        requests.act(step.at.ingress, action, step.at.key);
        break;
      }
      case 'actAgain':
        this.#actAgain(step);
        break;
      case 'deposit':
        this.#exchange.deposit(100 + step.number, step.wallet, step.lots * 10_000);
        break;
      case 'cancelAll':
        requests.cancelAll(step.at.ingress, step.wallet, this.#marketOf(step.market));
        break;
      case 'cancel':
      case 'placeAgain': {
        const order = newestOf(requests.orders, step.which);
        if (order === undefined) break;
        const { ingress, key } = step.at;
        if (step.kind === 'cancel') requests.cancel(ingress, order);
        else requests.place(ingress, [order], { key, stale: step.stale });
        break;
      }
      default:
        break;
    }
  }

  #place({ orders, at, stale, retryKey, waits }: Place): void {
    const { nowMs } = this.#exchange;
    const first = this.requests.orders.length;
    const [wallet = 0] = orders.map((order) => order.wallet);
    const signed = orders.map((order, index) => ({
      ...order,
      wallet,
      market: this.#marketOf(order.market),
      number: first + index,
      // A process knows that it has not forgotten the result of an order that was signed ahead of time.
      signedAtMs: nowMs + ((first + index) % 2) * signedAheadMs,
    }));
    this.requests.orders.push(...signed);
    const how = {
      key: at.key,
      stale,
      waits,
      ...(retryKey === 0 ? {} : { retryKey: `key-${retryKey}` }),
    };
    this.requests.place(at.ingress, signed, how);
  }

  #actAgain({ which, at, change }: Extract<Step, { kind: 'actAgain' }>): void {
    const action = newestOf(this.requests.actions, which);
    if (action === undefined) return;
    const amountMicro = change % 3 === 1 ? action.amountMicro * 40 : action.amountMicro;
    const market = change % 4 === 2 ? this.#marketOf(action.market + 1) : action.market;
    this.requests.act(at.ingress, { ...action, amountMicro, market }, at.key);
  }

  async #go({ count, seed }: Extract<Step, { kind: 'go' }>): Promise<void> {
    const random = new Random(seed);
    for (let left = count; left > 0; left -= 1)
      await this.#exchange.calls.resume(random.below(1_000_000), random.pick(fates));
  }

  #marketOf(index: number): number {
    return 1 + ((index - 1 + this.#market) % this.#market);
  }
}

/** Just less than the matcher allows, milliseconds. */
const signedAheadMs = 297_000;

/** An earlier thing, mostly one of the newest. */
function newestOf<T>(all: readonly T[], which: number): T | undefined {
  return all[all.length - 1 - (which % Math.max(1, all.length))];
}

/** Two of three calls succeed: histories without any success would test little. */
const fates: readonly Fate[] = [
  ...Array.from({ length: 26 }, () => 'done' as const),
  'lost',
  'lost',
  'unanswered',
  'unanswered',
  'unanswered',
  'late',
];

const wallet = fc.nat({ max: walletCount - 1 });
const market = fc.integer({ min: 1, max: marketsMax });
const partition = fc.nat({ max: partitionCount - 1 });
const at: fc.Arbitrary<At> = fc.record({ ingress: fc.nat({ max: 2 }), key: fc.nat({ max: 1 }) });

const content = fc.record({
  wallet,
  market,
  outcome: fc.constantFrom(0 as const, 1 as const),
  side: fc.constantFrom('BUY' as const, 'BUY' as const, 'SELL' as const),
  timeInForce: fc.constantFrom(
    'GTC' as const,
    'GTC' as const,
    'GTD' as const,
    'FOK' as const,
    'FAK' as const,
  ),
  price: fc.integer({ min: 44, max: 56 }).map((cents) => cents * 100),
  lots: fc.integer({ min: 100, max: 60_000 }),
});

const asked = fc.record({
  action: fc.constantFrom(
    'split' as const,
    'split' as const,
    'withdrawal' as const,
    'withdrawal' as const,
    'merge' as const,
    'redeem' as const,
  ),
  wallet,
  market,
  amountMicro: fc.integer({ min: 1, max: 70_000 }).map((lots) => lots * 10_000),
  id: fc.nat({ max: 400 }),
});

const which = fc.nat({ max: 12 });
/** Mostly the first projector. */
const process = fc.constantFrom(0, 0, 0, 1);
const drops = fc.boolean();

function kind<K extends Step['kind'], T>(name: K, rest: fc.Arbitrary<T>) {
  return rest.map((fields) => ({ kind: name, ...fields }));
}

/** Requests are nearly half of all steps. */
const step = fc.oneof(
  {
    weight: 16,
    arbitrary: kind(
      'place',
      fc.record({
        orders: fc.array(content, { minLength: 1, maxLength: 3 }),
        at,
        stale: fc.constantFrom(false, false, false, true),
        retryKey: fc.constantFrom(0, 0, 1, 2, 3),
        waits: fc.constantFrom(false, false, true),
      }),
    ),
  },
  { weight: 6, arbitrary: kind('placeAgain', fc.record({ which, at, stale: fc.boolean() })) },
  { weight: 12, arbitrary: kind('act', fc.record({ asked, at })) },
  { weight: 8, arbitrary: kind('actAgain', fc.record({ which, at, change: fc.nat({ max: 11 }) })) },
  { weight: 4, arbitrary: kind('cancel', fc.record({ which, at })) },
  { weight: 2, arbitrary: kind('cancelAll', fc.record({ wallet, market, at })) },
  {
    weight: 2,
    arbitrary: kind(
      'deposit',
      fc.record({ number: fc.nat({ max: 60 }), wallet, lots: fc.integer({ min: 1, max: 20_000 }) }),
    ),
  },
  {
    weight: 30,
    arbitrary: kind('go', fc.record({ count: fc.integer({ min: 1, max: 9 }), seed: fc.nat() })),
  },
  {
    weight: 12,
    arbitrary: kind('match', fc.record({ partition, count: fc.integer({ min: 1, max: 40 }) })),
  },
  {
    weight: 10,
    arbitrary: kind(
      'fold',
      fc.record({ process, partition, count: fc.integer({ min: 1, max: 60 }) }),
    ),
  },
  {
    weight: 4,
    arbitrary: kind(
      'foldTransfers',
      fc.record({ process, count: fc.integer({ min: 1, max: 20 }) }),
    ),
  },
  {
    weight: 8,
    arbitrary: kind(
      'tick',
      fc.record({ ms: fc.constantFrom(20, 100, 300, 700, 1_500, 4_000, 35_000) }),
    ),
  },
  { weight: 2, arbitrary: kind('arrive', fc.record({ which, drops })) },
  { weight: 1, arbitrary: kind('killIngress', fc.record({ which, drops })) },
  { weight: 1, arbitrary: kind('fee', fc.record({ market, bps: fc.constantFrom(0, 100, 400) })) },
  {
    weight: 1,
    arbitrary: fc
      .record({
        market,
        payout0: fc.constantFrom(0, 10_000, 5_000, 3_300),
        odds: fc.nat({ max: 8 }),
      })
      .map(
        ({ odds, ...resolve }): Step =>
          odds === 0 ? { kind: 'resolve', ...resolve } : { kind: 'check', process: odds },
      ),
  },
  { weight: 1, arbitrary: kind('takeOver', fc.record({ partition })) },
  { weight: 3, arbitrary: kind('check', fc.record({ process })) },
  {
    weight: 1,
    arbitrary: fc
      .constantFrom<Upkeep | 'killProjector'>(
        'killProjector',
        'killProjector',
        'forgetRetries',
        'forgetRetries',
        'loseRedis',
        'saveRedis',
        'saveRedis',
        'rewindRedis',
        'settle',
      )
      .map((upkeep): Step => ({ kind: upkeep, process: 0 }) as Step),
  },
);

/** Histories of up to so many steps. */
export function histories(maxSteps: number): fc.Arbitrary<Step[]> {
  return fc.array(step as fc.Arbitrary<Step>, { minLength: 1, maxLength: maxSteps, size: 'max' });
}
