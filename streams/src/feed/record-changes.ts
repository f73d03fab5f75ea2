import { walletFromBytes } from '@pm/schemas/ids';
import type { EventOf, Execution, ExecutionEvent, Fill } from '@pm/schemas/log/executions';
import type { FeedChange, Level, LogPosition, OwnChange, OwnOpenOrder } from './changes.ts';
import { inToken0 } from './order-states.ts';
import type { IndexedChannel } from './position-index.ts';
import type { Money, Tokens } from './wallet-states.ts';

/**
 * The numbers and totals that the changes of a record get: those of a whole partition, or of one channel that is read
 * again. The totals are those after the record.
 */
export interface ChangeNumbers {
  /** Number of the next change of a channel of a market; 0 when its changes are not wanted. */
  next(channel: IndexedChannel, market: number): number;
  wantsWallet(wallet: Buffer): boolean;
  /** Number of the next change of a wallet that is wanted. */
  nextOwn(wallet: Buffer): number;
  moneyOf(wallet: Buffer): Money;
  tokensOf(wallet: Buffer, market: number): Tokens;
  /** The order that an event ended or filled, before it; null when there was none, or it is not known. */
  openBefore(index: number): OwnOpenOrder | null;
}

/** Callback with the change of the tokens of a wallet by a fill or move. */
export type TokensVisit = (wallet: Buffer, market: number, change: Tokens) => void;

/** Calls `visit` for each change of tokens that an event makes. */
export function eachTokensChange(event: ExecutionEvent, visit: TokensVisit): void {
  if (event.kind === 'Fill') {
    const { market, sizeMicro } = event;
    const takerMicro = event.takerSide === 'BUY' ? sizeMicro : -sizeMicro;
    const makerMicro = event.makerSide === 'BUY' ? sizeMicro : -sizeMicro;
    visit(event.taker, market, tokensOf(event.takerOutcome, takerMicro));
    visit(event.maker, market, tokensOf(event.makerOutcome, makerMicro));
  } else if (event.kind === 'PositionMoved') {
    visit(event.wallet, event.market, event);
  }
}

function tokensOf(outcome: number, micro: number): Tokens {
  return outcome === 0
    ? { token0Micro: micro, token1Micro: 0 }
    : { token0Micro: 0, token1Micro: micro };
}

/**
 * The changes of one record that follow from its events, except best prices and rules, which need the state of the
 * market. Per channel and market, and per wallet, they are in the order of the events; positions come last.
 */
export class RecordChanges {
  readonly #execution: Execution;
  readonly #partition: number;
  readonly #numbers: ChangeNumbers;
  readonly #changes: FeedChange[] = [];
  readonly #levels: ChangedLevels[] = [];
  readonly #positions = new Map<string, ChangedPosition>();

  constructor(execution: Execution, partition: number, numbers: ChangeNumbers) {
    this.#execution = execution;
    this.#partition = partition;
    this.#numbers = numbers;
  }

  /** The changes; called once. The caller may add others to them. */
  fold(): FeedChange[] {
    const { events } = this.#execution;
    for (let index = 0; index < events.length; index += 1)
      this.#event(events[index] as ExecutionEvent, index);
    this.#endLevels();
    this.#endPositions();
    return this.#changes;
  }

  #event(event: ExecutionEvent, index: number): void {
    switch (event.kind) {
      case 'OrderPlaced':
        if (event.restingMicro > 0) this.#added(event, index);
        this.#ownOrder(event, { index, restingMicro: event.restingMicro || null });
        return;
      case 'OrderDelayed':
      case 'OrderRefused':
        this.#ownOrder(event, { index, restingMicro: null });
        return;
      case 'Fill':
        this.#filled(event, index);
        return;
      case 'OrderCanceled':
        this.#removed(event.orderId, event.market, index);
        this.#ownOrder(event, { index, restingMicro: 0 });
        return;
      case 'PositionMoved':
        this.#moved(event, index);
        return;
      case 'MoneyMoved':
        this.#balance(event, index);
        return;
      case 'LevelChanged':
        this.#level(event, index);
        return;
      default:
        return;
    }
  }

  #added(event: EventOf<'OrderPlaced'>, index: number): void {
    const { market, orderId, restingMicro } = event;
    const seq = this.#numbers.next('orders', market);
    if (seq === 0) return;
    const order = { orderId, ...inToken0(event), restingMicro };
    this.#changes.push({
      channel: 'orders',
      action: 'add',
      market,
      seq,
      at: this.#at(index),
      order,
    });
  }

  #removed(orderId: Buffer, market: number, index: number): void {
    const seq = this.#numbers.next('orders', market);
    if (seq === 0) return;
    const at = this.#at(index);
    this.#changes.push({
      channel: 'orders',
      action: 'remove',
      market,
      seq,
      at,
      order: { orderId },
    });
  }

  #filled(fill: Fill, index: number): void {
    const { market } = fill;
    const seq = this.#numbers.next('trades', market);
    if (seq > 0) this.#changes.push({ channel: 'trades', market, seq, at: this.#at(index), fill });
    this.#makerFilled(fill, index);
    this.#active(fill, fill.taker, index, 'taker');
    this.#active(fill, fill.maker, index, 'maker');
    this.#ownFill(fill, fill.taker, index, 'taker');
    this.#ownFill(fill, fill.maker, index, 'maker');
    if (this.#numbers.wantsWallet(fill.maker))
      this.#own(fill.maker, index, {
        kind: 'order',
        event: fill,
        orderId: fill.makerOrderId,
        market,
        restingMicro: fill.makerRestMicro,
        before: this.#numbers.openBefore(index),
      });
    eachTokensChange(fill, (wallet) => this.#position(wallet, market, index));
  }

  #makerFilled(fill: Fill, index: number): void {
    const { market, makerOrderId: orderId, makerRestMicro: restingMicro } = fill;
    if (restingMicro === 0) {
      this.#removed(orderId, market, index);
      return;
    }
    const seq = this.#numbers.next('orders', market);
    if (seq === 0) return;
    const terms = { outcome: fill.makerOutcome, side: fill.makerSide, price: fill.makerPrice };
    const order = { orderId, ...inToken0(terms), restingMicro };
    const at = this.#at(index);
    this.#changes.push({ channel: 'orders', action: 'change', market, seq, at, order });
  }

  #moved(event: EventOf<'PositionMoved'>, index: number): void {
    this.#active(event, event.wallet, index, null);
    this.#position(event.wallet, event.market, index);
  }

  #active(
    source: Fill | EventOf<'PositionMoved'>,
    wallet: Buffer,
    index: number,
    role: 'taker' | 'maker' | null,
  ): void {
    const { market } = source;
    const seq = this.#numbers.next('activity', market);
    if (seq === 0) return;
    const at = this.#at(index);
    const shown = walletFromBytes(wallet);
    this.#changes.push({ channel: 'activity', market, seq, at, wallet: shown, source, role });
  }

  #ownFill(fill: Fill, wallet: Buffer, index: number, role: 'taker' | 'maker'): void {
    if (this.#numbers.wantsWallet(wallet)) this.#own(wallet, index, { kind: 'fill', fill, role });
  }

  #ownOrder(
    event: EventOf<'OrderPlaced' | 'OrderRefused' | 'OrderDelayed' | 'OrderCanceled'>,
    { index, restingMicro }: { readonly index: number; readonly restingMicro: number | null },
  ): void {
    const { maker, orderId, market } = event;
    if (!this.#numbers.wantsWallet(maker)) return;
    const before = this.#numbers.openBefore(index);
    this.#own(maker, index, { kind: 'order', event, orderId, market, restingMicro, before });
  }

  #balance({ wallet }: EventOf<'MoneyMoved'>, index: number): void {
    if (!this.#numbers.wantsWallet(wallet)) return;
    const { freeMicro, heldMicro } = this.#numbers.moneyOf(wallet);
    this.#own(wallet, index, { kind: 'balance', freeMicro, heldMicro });
  }

  #own(wallet: Buffer, index: number, change: OwnChange['change']): void {
    const seq = this.#numbers.nextOwn(wallet);
    const at = this.#at(index);
    this.#changes.push({ channel: 'own', wallet: walletFromBytes(wallet), seq, at, change });
  }

  #level({ market, side, price, sizeMicro }: EventOf<'LevelChanged'>, index: number): void {
    const level = { side, price, sizeMicro };
    const known =
      this.#levels.at(-1)?.market === market
        ? this.#levels.at(-1)
        : this.#levels.find((changed) => changed.market === market);
    if (known === undefined) this.#levels.push({ market, levels: [level], index });
    else {
      known.levels.push(level);
      known.index = index;
    }
  }

  #endLevels(): void {
    for (const { market, levels, index } of this.#levels) {
      const seq = this.#numbers.next('book', market);
      if (seq > 0)
        this.#changes.push({ channel: 'book', market, seq, at: this.#at(index), levels });
    }
  }

  #position(wallet: Buffer, market: number, index: number): void {
    if (!this.#numbers.wantsWallet(wallet)) return;
    const key = `${wallet.toString('latin1')}${market}`;
    const known = this.#positions.get(key);
    if (known === undefined) this.#positions.set(key, { wallet, market, index });
    else known.index = index;
  }

  #endPositions(): void {
    for (const { wallet, market, index } of this.#positions.values()) {
      const { token0Micro, token1Micro } = this.#numbers.tokensOf(wallet, market);
      this.#own(wallet, index, { kind: 'position', market, token0Micro, token1Micro });
    }
  }

  #at(index: number): LogPosition {
    const { inOffset, timeMs } = this.#execution;
    return { partition: this.#partition, offset: inOffset, index, timeMs };
  }
}

interface ChangedLevels {
  readonly market: number;
  readonly levels: Level[];
  index: number;
}

interface ChangedPosition {
  readonly wallet: Buffer;
  readonly market: number;
  index: number;
}
