import type { Position } from '@pm/domain/positions/position';
import type { Execution } from '@pm/schemas/log/executions';
import { RowMemory } from '../tables/row-memory.ts';
import type { TableRows } from '../tables/row-writer.ts';
import { BookClosingsView, bookEventsView, bookOrdersView } from './book-events.ts';
import { FillsView } from './fills.ts';
import { marketRulesView, resolutionsView } from './markets.ts';
import { openOrdersView } from './open-orders.ts';
import { cancelsView, ordersView } from './orders.ts';
import { PositionsView } from './positions/positions.ts';
import { type Candle, CandlesView } from './prices/candles.ts';
import { MidpointsView } from './prices/midpoints.ts';
import type { View } from './view.ts';

/** The stored state of a partition that later records change. */
export interface RestoredState {
  readonly positions: Iterable<Position>;
  readonly candles: Iterable<Candle>;
}

/** The views of all tables of one partition. */
export class TableViews implements View {
  readonly #positions: PositionsView;
  readonly #views: readonly View[];

  constructor(partition: number, restored: RestoredState, memory: RowMemory = new RowMemory()) {
    this.#positions = new PositionsView(partition, restored.positions, memory);
    this.#views = [
      new FillsView(partition, memory),
      ordersView(partition, memory),
      openOrdersView(partition, memory),
      cancelsView(partition, memory),
      bookEventsView(partition, memory),
      bookOrdersView(partition, memory),
      new BookClosingsView(memory),
      marketRulesView(partition, memory),
      resolutionsView(partition, memory),
      this.#positions,
      new MidpointsView(memory),
      new CandlesView(restored.candles, memory),
    ];
  }

  /** Markets whose payout `knowPayout` must be given before the record can be folded. */
  payoutsNeeded(execution: Execution): readonly number[] {
    return this.#positions.payoutsNeeded(execution);
  }

  /** `payout0`: payout of token 0, 1/10000 USDC. */
  knowPayout(market: number, payout0: number): void {
    this.#positions.knowPayout(market, payout0);
  }

  fold(execution: Execution, appendedAtMs: number): void {
    for (const view of this.#views) view.fold(execution, appendedAtMs);
  }

  get pendingRows(): number {
    return this.#views.reduce((sum, view) => sum + view.pendingRows, 0);
  }

  /** In a fixed order: the same records give the same rows in the same order. */
  take(): readonly TableRows[] {
    return this.#views.flatMap((view) => view.take());
  }
}
