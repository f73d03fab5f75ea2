import type { Execution, ExecutionEvent } from '@pm/schemas/log/executions';
import type { FeedChange, OwnChange } from './changes.ts';
import { type ChangeNumbers, eachTokensChange, RecordChanges } from './record-changes.ts';
import type { MarketReplayPlan, OwnReplayPlan, WantedChanges } from './replay-plan.ts';
import { type Money, noMoney, noTokens, type Tokens } from './wallet-states.ts';

/** Folds executions of a partition, from the start of a replay on, into the changes that are wanted. */
export interface ReplayFold {
  /** True once no later record has wanted changes. */
  readonly isDone: boolean;
  take(execution: Execution): readonly FeedChange[];
}

/** The changes of one channel of a market, which need no state but their numbers. */
export class MarketReplayFold implements ReplayFold {
  readonly #plan: MarketReplayPlan;
  readonly #numbers: ChangeNumbers;
  #seq: number;

  constructor(plan: MarketReplayPlan) {
    this.#plan = plan;
    this.#seq = plan.start.seqBefore;
    this.#numbers = {
      next: (channel, market) => {
        if (market !== plan.market || channel !== plan.channel) return 0;
        this.#seq += 1;
        return this.#seq;
      },
      wantsWallet: () => false,
      nextOwn: () => 0,
      moneyOf: () => noMoney,
      tokensOf: () => noTokens,
      openBefore: () => null,
    };
  }

  get isDone(): boolean {
    return this.#seq >= this.#plan.toSeq;
  }

  take(execution: Execution): readonly FeedChange[] {
    const { market } = this.#plan;
    if (!execution.events.some((event) => 'market' in event && event.market === market)) return [];
    const changes = new RecordChanges(execution, this.#plan.partition, this.#numbers).fold();
    return changes.filter((change) => isWanted(change, this.#plan));
  }
}

/** Totals of a wallet: those after the record that is folded. */
export class OwnTotals {
  #money: Money;
  readonly #tokens: Map<number, Tokens>;

  constructor(money: Money = noMoney, tokens: ReadonlyMap<number, Tokens> = new Map()) {
    this.#money = money;
    this.#tokens = new Map(tokens);
  }

  get money(): Money {
    return this.#money;
  }

  tokensOf(market: number): Tokens {
    return this.#tokens.get(market) ?? noTokens;
  }

  add(wallet: Buffer, event: ExecutionEvent): void {
    if (event.kind === 'MoneyMoved' && event.wallet.equals(wallet))
      this.#money = sumOfMoney(this.#money, event);
    eachTokensChange(event, (owner, market, change) => {
      if (owner.equals(wallet))
        this.#tokens.set(market, sumOfTokens(this.tokensOf(market), change));
    });
  }

  /** Markets with totals. */
  get markets(): Iterable<number> {
    return this.#tokens.keys();
  }
}

/**
 * The changes of a wallet. Their totals begin with those given: with the totals at the start of the replay they are
 * right; with none they are changes since the start (`OwnReplayPlan` and `startTotals`).
 */
export class OwnReplayFold implements ReplayFold {
  readonly totals: OwnTotals;
  readonly #plan: OwnReplayPlan;
  readonly #numbers: ChangeNumbers;
  readonly #untilSeq: number;
  #seq: number;

  /** `untilSeq`: number of the change after which nothing has to be read. */
  constructor(plan: OwnReplayPlan, totals: OwnTotals, untilSeq: number) {
    this.#plan = plan;
    this.totals = totals;
    this.#untilSeq = untilSeq;
    this.#seq = plan.start.seqBefore;
    this.#numbers = {
      next: () => 0,
      wantsWallet: (wallet) => wallet.equals(plan.wallet),
      nextOwn: () => {
        this.#seq += 1;
        return this.#seq;
      },
      moneyOf: () => totals.money,
      tokensOf: (_, market) => totals.tokensOf(market),
      openBefore: () => null,
    };
  }

  get isDone(): boolean {
    return this.#seq >= this.#untilSeq;
  }

  take(execution: Execution): readonly OwnChange[] {
    for (const event of execution.events) this.totals.add(this.#plan.wallet, event);
    const changes = new RecordChanges(execution, this.#plan.partition, this.#numbers).fold();
    return changes.filter(
      (change): change is OwnChange => change.channel === 'own' && isWanted(change, this.#plan),
    );
  }
}

/** The totals before the changes of a plan: those of its call less what `changes` sums up, of the changed markets. */
export function totalsBefore(
  { money, positions }: Pick<OwnReplayPlan, 'money' | 'positions'>,
  changes: OwnTotals,
): OwnTotals {
  const tokens = new Map<number, Tokens>();
  for (const market of changes.markets) {
    const newest = tokensIn(positions, market);
    tokens.set(market, sumOfTokens(newest, negative(changes.tokensOf(market))));
  }
  const { freeMicro, heldMicro } = changes.money;
  return new OwnTotals(sumOfMoney(money, { freeMicro: -freeMicro, heldMicro: -heldMicro }), tokens);
}

/** The tokens of a market in a list that is sorted by market. */
function tokensIn(positions: OwnReplayPlan['positions'], market: number): Tokens {
  let low = 0;
  let high = positions.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    const [found] = positions.slice(middle, middle + 1);
    if (found === undefined) return noTokens;
    if (found.market === market) return found;
    if (found.market < market) low = middle + 1;
    else high = middle;
  }
  return noTokens;
}

/** A change whose totals are changes since `start`, with totals that are right. */
export function withTotals({ change, ...own }: OwnChange, start: OwnTotals): OwnChange {
  if (change.kind === 'balance') {
    const { freeMicro, heldMicro } = sumOfMoney(start.money, change);
    return { ...own, change: { kind: 'balance', freeMicro, heldMicro } };
  }
  if (change.kind !== 'position') return { ...own, change };
  const { market } = change;
  const { token0Micro, token1Micro } = sumOfTokens(start.tokensOf(market), change);
  return { ...own, change: { kind: 'position', market, token0Micro, token1Micro } };
}

/** Whether a change of the channel of a replay is one of those that are wanted. */
export function isWanted(change: FeedChange, wanted: WantedChanges): boolean {
  const { seq, at } = change;
  return seq > wanted.afterSeq && seq <= wanted.toSeq && at.offset >= wanted.fromInOffset;
}

function sumOfMoney(one: Money, other: Money): Money {
  return {
    freeMicro: one.freeMicro + other.freeMicro,
    heldMicro: one.heldMicro + other.heldMicro,
  };
}

function sumOfTokens(one: Tokens, other: Tokens): Tokens {
  return {
    token0Micro: one.token0Micro + other.token0Micro,
    token1Micro: one.token1Micro + other.token1Micro,
  };
}

/** Zero minus, so that no -0 comes out. */
function negative({ token0Micro, token1Micro }: Tokens): Tokens {
  return { token0Micro: 0 - token0Micro, token1Micro: 0 - token1Micro };
}
