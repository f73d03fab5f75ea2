import type { ExchangeClient } from '@pm/client';
import type { OwnAccount, Trader } from '../trading/trader.io.ts';

/** Clients of the exchange that the tools of one caller use. */
export interface Session {
  /** Public reads, under the name of the caller's agent key where there is one. */
  readonly exchange: ExchangeClient;
  /** Null without a key that opens private reads. */
  readonly own: OwnAccount | null;
  /** Orders of the own wallet; null where this server does not trade. */
  readonly trader: Trader | null;
  /** Why `trader` is null. */
  readonly noTrading: 'trading_off' | 'trading_not_here';
}
