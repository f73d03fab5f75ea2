import { orderIdFromBytes, walletFromBytes } from '@pm/schemas/ids';
import type { Execution, ExecutionEvent } from '@pm/schemas/log/executions';
import type { Mismatch } from './compare-redis.ts';
import { tokenKey } from './fill-totals.ts';

/**
 * Subjects of records after the end of the log that was read. Projections may already show these records, so a
 * difference about such a subject proves nothing.
 */
export class ChangedSubjects {
  readonly #about = new Set<string>();

  record({ events }: Pick<Execution, 'events'>): void {
    for (const event of events) for (const about of subjectsOf(event)) this.#about.add(about);
  }

  /** A wallet with new deposits or withdrawals. */
  wallet(wallet: string): void {
    this.#about.add(wallet);
  }

  /** Mismatches about unchanged subjects, and the number of the others. */
  sort(found: readonly Mismatch[]): {
    readonly wrong: readonly string[];
    readonly changed: number;
  } {
    const unchanged = found.filter(({ about }) => !this.#has(about));
    return { wrong: unchanged.map(({ text }) => text), changed: found.length - unchanged.length };
  }

  #has(about: string | null): boolean {
    return about !== null && this.#about.has(about);
  }
}

function subjectsOf(event: ExecutionEvent): readonly string[] {
  switch (event.kind) {
    case 'Fill': {
      const { market } = event;
      const [wallet, other] = [walletFromBytes(event.taker), walletFromBytes(event.maker)];
      const taker = tokenKey({ wallet, market, outcome: event.takerOutcome });
      const maker = tokenKey({ wallet: other, market, outcome: event.makerOutcome });
      const orders = [orderIdFromBytes(event.takerOrderId), orderIdFromBytes(event.makerOrderId)];
      return [String(market), taker, maker, ...orders];
    }
    case 'PositionMoved': {
      const wallet = walletFromBytes(event.wallet);
      const { market } = event;
      const tokens = [0, 1].map((outcome) => tokenKey({ wallet, market, outcome }));
      return [String(market), ...tokens];
    }
    case 'MoneyMoved':
      return [walletFromBytes(event.wallet)];
    case 'LevelChanged':
    case 'MarketResolved':
      return [String(event.market)];
    case 'OrderPlaced':
    case 'OrderCanceled':
      return [orderIdFromBytes(event.orderId), String(event.market)];
    default:
      return [];
  }
}
