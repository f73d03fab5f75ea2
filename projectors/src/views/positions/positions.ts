import { BrokenLog } from '@pm/domain/executions/broken-log';
import type { Position } from '@pm/domain/positions/position';
import {
  applyTrade,
  makersTrade,
  type PositionTrade,
  priceOfMove,
  takersTrade,
  tradesOfMove,
} from '@pm/domain/positions/position-trades';
import type { EventOf, Execution } from '@pm/schemas/log/executions';
import { tables } from '@pm/schemas/tables/tables';
import type { RowMemory } from '../../tables/row-memory.ts';
import { RowWriter, type TableRows } from '../../tables/row-writer.ts';
import { type RowSource, type View, writeSource } from '../view.ts';
import { Holdings } from './holdings.ts';

type PositionMoved = EventOf<'PositionMoved'>;

/**
 * Tables `positions` and `holders` of one partition: absolute rows; and `wallet_moves`, the changes beside
 * `wallet_fills` from which they are folded. A record at or below the version of a key is skipped for that key, so
 * stored records may be read again.
 */
export class PositionsView implements View {
  readonly #partition: number;
  readonly #holdings: Holdings;
  readonly #payouts = new Map<number, number>();
  readonly #touched = new Set<Position>();
  /** Positions that the current record has changed: a version stands for a whole record. */
  readonly #open = new Set<Position>();
  readonly #moves: RowWriter;
  readonly #holders: RowWriter;
  readonly #positions: RowWriter;

  constructor(partition: number, restored: Iterable<Position>, memory: RowMemory) {
    this.#partition = partition;
    this.#holdings = new Holdings(restored);
    this.#moves = new RowWriter(tables.walletMoves, memory);
    this.#holders = new RowWriter(tables.holders, memory);
    this.#positions = new RowWriter(tables.positions, memory);
  }

  get pendingRows(): number {
    return this.#touched.size * 2 + this.#moves.count;
  }

  /** The payout of token 0, 1/10000 USDC, when the record of the resolution was not read. */
  knowPayout(market: number, payout0: number): void {
    this.#payouts.set(market, payout0);
  }

  /**
   * Markets of which the record redeems the same amount of both tokens: then only the payout gives the price of each.
   */
  payoutsNeeded({ events }: Execution): readonly number[] {
    const resolved = new Set<number>();
    const needed: number[] = [];
    for (const event of events) {
      if (event.kind === 'MarketResolved') resolved.add(event.market);
      if (event.kind !== 'PositionMoved' || event.action !== 'REDEEM') continue;
      const { market, token0Micro, token1Micro } = event;
      const isKnown = resolved.has(market) || this.#payouts.has(market);
      if (token0Micro === token1Micro && !isKnown) needed.push(market);
    }
    return needed;
  }

  fold({ events, inOffset, timeMs }: Execution, appendedAtMs: number): void {
    this.#open.clear();
    const partition = this.#partition;
    for (let index = 0; index < events.length; index += 1) {
      const event = events[index];
      if (event?.kind === 'MarketResolved') this.#payouts.set(event.market, event.payout0);
      if (event?.kind === 'Fill') {
        this.#apply(takersTrade(event), inOffset, timeMs);
        this.#apply(makersTrade(event), inOffset, timeMs);
      }
      if (event?.kind === 'PositionMoved')
        this.#move(event, { partition, inOffset, index, timeMs, appendedAtMs });
    }
  }

  take(): readonly TableRows[] {
    for (const position of this.#touched) {
      writePosition(this.#positions, position, this.#partition);
      writeHolder(this.#holders, position);
    }
    this.#touched.clear();
    // Holders first: a restart restores from `positions`, so all its rows must be in `holders` already.
    return [this.#moves.take(), this.#holders.take(), this.#positions.take()];
  }

  #move(event: PositionMoved, source: RowSource): void {
    for (const trade of tradesOfMove(event, this.#payoutOf(event))) {
      this.#apply(trade, source.inOffset, source.timeMs);
      writeMove(writeSource(this.#moves, source), trade, event.action);
    }
  }

  #apply(trade: PositionTrade, inOffset: number, timeMs: number): void {
    const { market, outcome, countsAsVolume } = trade;
    const position = this.#holdings.of(trade.wallet, market, outcome);
    if (position.version >= inOffset && !this.#open.has(position)) return;
    this.#open.add(position);
    const valueMicro = applyTrade(position, trade);
    if (countsAsVolume) position.volumeMicro += valueMicro;
    position.updatedMs = timeMs;
    position.version = inOffset;
    this.#touched.add(position);
  }

  /** For unequal sizes the payout follows from the money; for equal ones it comes from the resolution. */
  #payoutOf(moved: PositionMoved): number {
    const price = priceOfMove(moved) ?? this.#payouts.get(moved.market);
    if (price === undefined) throw new BrokenLog('a redemption before the resolution');
    return price;
  }
}

function writeMove(to: RowWriter, move: PositionTrade, action: PositionMoved['action']): void {
  to.hex(move.wallet).word(action).int(move.market).int(move.outcome);
  to.price(move.price).micro(move.sizeMicro).end();
}

function writePosition(to: RowWriter, position: Position, partition: number): void {
  to.word(position.wallet).int(position.market).int(position.outcome).int(partition);
  to.micro(position.sizeMicro).micro(position.costMicro).micro(position.totalBoughtMicro);
  to.micro(position.sharesBoughtMicro).micro(position.realizedMicro).micro(position.volumeMicro);
  to.time(position.updatedMs).int(position.version).end();
}

function writeHolder(to: RowWriter, position: Position): void {
  to.int(position.market).int(position.outcome).word(position.wallet);
  to.micro(position.sizeMicro).micro(position.costMicro).micro(position.totalBoughtMicro);
  to.micro(position.realizedMicro).int(position.version).end();
}
