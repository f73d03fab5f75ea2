import {
  complementPrice,
  type EventOf,
  type Execution,
  type Fill,
  lotMicro,
  microText,
  notionalMicro,
  priceOne,
  priceText,
  type Side,
  tables,
  type WalletAddress,
  walletFromBytes,
} from '@pm/schemas';
import { BrokenLog } from '../broken-log.ts';
import type { Row, TableRows, View } from '../rows.ts';
import { timeText } from '../time.ts';
import { bought, emptyPosition, type Position, sold } from './position.ts';

type PositionMoved = EventOf<'PositionMoved'>;

interface Trade {
  readonly wallet: WalletAddress;
  readonly market: number;
  readonly outcome: number;
  readonly side: Side;
  readonly sizeMicro: number;
  readonly price: number;
  /** Splits, merges and redemptions are no trading. */
  readonly countsAsVolume: boolean;
}

/** Splits come in, and merges go out, at one half each (docs/conventions.md 6.1). */
const halfPrice = priceOne / 2;

/**
 * Tables `positions` and `holders` of one partition: absolute rows; and `wallet_moves`, which tells with `wallet_fills` what they
 * are folded from. A record at or below the version of a key is skipped
 * for that key, so whatever was stored before may be read again.
 */
export class PositionsView implements View {
  readonly #partition: number;
  readonly #positions = new Map<string, Position>();
  readonly #payouts = new Map<number, number>();
  #touched = new Set<string>();
  #moves: Row[] = [];

  constructor(partition: number, restored: Iterable<Position> = []) {
    this.#partition = partition;
    for (const position of restored) this.#positions.set(keyOf(position), position);
  }

  get pendingRows(): number {
    return this.#touched.size * 2 + this.#moves.length;
  }

  /** What token 0 pays, for records in front of which the resolution was not read. */
  knowPayout(market: number, payout0: number): void {
    this.#payouts.set(market, payout0);
  }

  /** Markets of which the record redeems as many of both tokens: only their payout tells what each was worth. */
  payoutsNeeded(execution: Execution): readonly number[] {
    const resolved = new Set(this.#payouts.keys());
    const needed: number[] = [];
    for (const event of execution.events) {
      if (event.kind === 'MarketResolved') resolved.add(event.market);
      if (event.kind !== 'PositionMoved' || event.action !== 'REDEEM') continue;
      if (event.token0Micro === event.token1Micro && !resolved.has(event.market))
        needed.push(event.market);
    }
    return needed;
  }

  fold(execution: Execution): void {
    const open = new Set<string>();
    for (const [index, event] of execution.events.entries()) {
      if (event.kind === 'MarketResolved') this.#payouts.set(event.market, event.payout0);
      if (event.kind === 'Fill')
        for (const trade of tradesOfFill(event)) this.#apply(trade, execution, open);
      if (event.kind !== 'PositionMoved') continue;
      for (const trade of tradesOfMove(event, this.#payoutOf(event))) {
        this.#apply(trade, execution, open);
        const source = [this.#partition, execution.inOffset, index, timeText(execution.timeMs)];
        this.#moves.push([...source, ...moveCells(trade, event.action)]);
      }
    }
  }

  take(): readonly TableRows[] {
    const positions: Row[] = [];
    const holders: Row[] = [];
    for (const key of this.#touched) {
      const position = this.#positions.get(key);
      if (position === undefined) continue;
      positions.push(positionRow(position, this.#partition));
      holders.push(holderRow(position));
    }
    this.#touched = new Set();
    const moves = this.#moves;
    this.#moves = [];
    // Holders first: a restart restores from `positions`, so what is in there must be in `holders` already.
    return [
      { table: tables.walletMoves, rows: moves },
      { table: tables.holders, rows: holders },
      { table: tables.positions, rows: positions },
    ];
  }

  /** `open` holds the keys this record has begun to change: the version speaks for whole records. */
  #apply(trade: Trade, { inOffset, timeMs }: Execution, open: Set<string>): void {
    const { wallet, market, outcome, side, sizeMicro, price, countsAsVolume } = trade;
    const key = keyOf(trade);
    const before = this.#positions.get(key) ?? emptyPosition(wallet, market, outcome);
    if (!open.has(key) && before.version >= inOffset) return;
    open.add(key);
    const valueMicro = notionalMicro(price, sizeMicro);
    const after = (side === 'BUY' ? bought : sold)(before, sizeMicro, valueMicro);
    const volumeMicro = before.volumeMicro + (countsAsVolume ? valueMicro : 0);
    this.#positions.set(key, { ...after, volumeMicro, updatedMs: timeMs, version: inOffset });
    this.#touched.add(key);
  }

  /** Of unequal sizes the money tells the payout; of equal ones the resolution has to. */
  #payoutOf(moved: PositionMoved): number {
    if (moved.action !== 'REDEEM') return halfPrice;
    const lots0 = -moved.token0Micro / lotMicro;
    const lots1 = -moved.token1Micro / lotMicro;
    if (lots0 !== lots1) return (moved.paidMicro - priceOne * lots1) / (lots0 - lots1);
    const payout0 = this.#payouts.get(moved.market);
    if (payout0 === undefined) throw new BrokenLog('a redemption before the resolution');
    return payout0;
  }
}

function tradesOfFill(fill: Fill): readonly Trade[] {
  const { market, sizeMicro } = fill;
  const taker = { wallet: walletFromBytes(fill.taker), outcome: fill.takerOutcome };
  const maker = { wallet: walletFromBytes(fill.maker), outcome: fill.makerOutcome };
  const shared = { market, sizeMicro, countsAsVolume: true };
  return [
    { ...shared, ...taker, side: fill.takerSide, price: fill.takerPrice },
    { ...shared, ...maker, side: fill.makerSide, price: fill.makerPrice },
  ];
}

function tradesOfMove(moved: PositionMoved, payout0: number): readonly Trade[] {
  const wallet = walletFromBytes(moved.wallet);
  const side: Side = moved.action === 'SPLIT' ? 'BUY' : 'SELL';
  const shared = { wallet, market: moved.market, side, countsAsVolume: false };
  const token0 = { outcome: 0, sizeMicro: Math.abs(moved.token0Micro), price: payout0 };
  const token1 = {
    outcome: 1,
    sizeMicro: Math.abs(moved.token1Micro),
    price: complementPrice(payout0),
  };
  return [token0, token1]
    .filter(({ sizeMicro }) => sizeMicro > 0)
    .map((token) => ({ ...shared, ...token }));
}

function moveCells(move: Trade, action: PositionMoved['action']): Row {
  return [
    move.wallet,
    action,
    move.market,
    move.outcome,
    priceText(move.price),
    microText(move.sizeMicro),
  ];
}

function keyOf(key: { wallet: WalletAddress; market: number; outcome: number }): string {
  return `${key.wallet}:${key.market}:${key.outcome}`;
}

function positionRow(position: Position, partition: number): Row {
  return [
    position.wallet,
    position.market,
    position.outcome,
    partition,
    microText(position.sizeMicro),
    microText(position.costMicro),
    microText(position.totalBoughtMicro),
    microText(position.sharesBoughtMicro),
    microText(position.realizedMicro),
    microText(position.volumeMicro),
    timeText(position.updatedMs),
    position.version,
  ];
}

function holderRow(position: Position): Row {
  return [
    position.market,
    position.outcome,
    position.wallet,
    microText(position.sizeMicro),
    microText(position.costMicro),
    microText(position.totalBoughtMicro),
    microText(position.realizedMicro),
    position.version,
  ];
}
