import {
  type Execution,
  type ExecutionEvent,
  orderIdFromBytes,
  walletFromBytes,
} from '@pm/schemas';
import { tokenKey } from './accounts.ts';
import type { Mismatch } from './projections.ts';

/**
 * What moved while the projections were being read. They then show a later moment than the log was read to, so what differs
 * about it says nothing.
 */
export class Moved {
  readonly #about = new Set<string>();

  record({ events }: Pick<Execution, 'events'>): void {
    for (const event of events) for (const about of subjectsOf(event)) this.#about.add(about);
  }

  /** Wallets whose deposits or withdrawals moved. */
  wallet(wallet: string): void {
    this.#about.add(wallet);
  }

  /** Mismatches about what stood still, and how many others there are. */
  sort(found: readonly Mismatch[]): { readonly wrong: readonly string[]; readonly moved: number } {
    const still = found.filter(({ about }) => !this.#has(about));
    return { wrong: still.map(({ text }) => text), moved: found.length - still.length };
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
