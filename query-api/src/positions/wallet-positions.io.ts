import type { HeldRow } from '@pm/domain/positions/positions';
import type { ClickHouse } from '@pm/kit/clickhouse';
import type { WalletAddress } from '@pm/schemas/ids';
import { RecentLog } from '../recent/recent-log.ts';
import { foldPositions, type PayoutOf } from './newest-positions.ts';
import { type PositionSearch, readClosedPositions, readPositions } from './read-positions.io.ts';

export interface WalletPositionsOptions {
  readonly clickhouse: Pick<ClickHouse, 'selectRows'>;
  /** Without it the tables answer alone. */
  readonly recent?: Pick<RecentLog, 'holdings'>;
  readonly payoutOf?: PayoutOf;
}

/**
 * Positions of wallets, with the newest executions that query-api has read. Memory is read first: what it forgets
 * meanwhile is in the tables by then. Methods throw the faults of ClickHouse (`retry` when it is away).
 */
export class WalletPositions {
  readonly #options: Required<WalletPositionsOptions>;

  constructor({
    clickhouse,
    recent = new RecentLog(),
    payoutOf = () => null,
  }: WalletPositionsOptions) {
    this.#options = { clickhouse, recent, payoutOf };
  }

  /** Null for `markets`: all. */
  async open(
    wallet: WalletAddress,
    markets: readonly number[] | null,
  ): Promise<readonly HeldRow[]> {
    const rows = await this.#read(wallet, markets, readPositions);
    return rows.filter(({ sizeMicro }) => sizeMicro > 0);
  }

  /** Closed positions of a wallet: no tokens are left. */
  async closed(
    wallet: WalletAddress,
    markets: readonly number[] | null,
  ): Promise<readonly HeldRow[]> {
    const rows = await this.#read(wallet, markets, readClosedPositions);
    return rows.filter(({ sizeMicro }) => sizeMicro === 0);
  }

  async #read(
    wallet: WalletAddress,
    markets: readonly number[] | null,
    read: typeof readPositions,
  ): Promise<readonly HeldRow[]> {
    const { clickhouse, recent, payoutOf } = this.#options;
    const changes = recent
      .holdings([wallet])
      .rows.filter(({ market }) => markets?.includes(market) ?? true);
    const touched = [...new Set(changes.map(({ market }) => market))];
    const search: PositionSearch = { wallet, markets, touched };
    return foldPositions(await read(clickhouse, search), changes, payoutOf);
  }
}
