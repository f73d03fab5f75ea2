import type { Execution } from '@pm/schemas';
import type { TableRows } from '../tables/row-writer.ts';
import { BookClosingsView } from './book-closings.ts';
import { bookEventsView } from './book-events.ts';
import { bookOrdersView } from './book-orders.ts';
import { cancelsView } from './cancels.ts';
import { FillsView } from './fills.ts';
import { marketRulesView } from './market-rules.ts';
import { openOrdersView } from './open-orders.ts';
import { ordersView } from './orders.ts';
import type { Position } from './positions/position.ts';
import { PositionsView } from './positions/positions.ts';
import { type Candle, CandlesView } from './prices/candles.ts';
import { MidpointsView } from './prices/midpoints.ts';
import { resolutionsView } from './resolutions.ts';
import type { View } from './view.ts';

/** What the tables hold of a partition that further records change. */
export interface RestoredState {
  readonly positions: Iterable<Position>;
  readonly candles: Iterable<Candle>;
}

/** All tables of one partition. */
export class TableViews implements View {
  readonly #positions: PositionsView;
  readonly #views: readonly View[];

  constructor(partition: number, restored: RestoredState) {
    this.#positions = new PositionsView(partition, restored.positions);
    this.#views = [
      new FillsView(partition),
      ordersView(partition),
      openOrdersView(partition),
      cancelsView(partition),
      bookEventsView(partition),
      bookOrdersView(partition),
      new BookClosingsView(),
      marketRulesView(partition),
      resolutionsView(partition),
      this.#positions,
      new MidpointsView(),
      new CandlesView(restored.candles),
    ];
  }

  /** Markets whose payout must be told by `knowPayout` before the record can be folded. */
  payoutsNeeded(execution: Execution): readonly number[] {
    return this.#positions.payoutsNeeded(execution);
  }

  knowPayout(market: number, payout0: number): void {
    this.#positions.knowPayout(market, payout0);
  }

  fold(execution: Execution): void {
    for (const view of this.#views) view.fold(execution);
  }

  get pendingRows(): number {
    return this.#views.reduce((sum, view) => sum + view.pendingRows, 0);
  }

  /** In a fixed order: the same records give the same rows in the same order. */
  take(): readonly TableRows[] {
    return this.#views.flatMap((view) => view.take());
  }
}
