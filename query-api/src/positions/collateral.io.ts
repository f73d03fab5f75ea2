import type { Ledger } from '@pm/domain/ledger/ledger.io';
import type { LedgerSettling } from '@pm/domain/ledger/ledger-settling.io';
import { Fault } from '@pm/kit/fault';
import type { WalletAddress } from '@pm/schemas/ids';
import type { Money } from './balances.ts';

/** Balances of the collateral ledger. */
export class Collateral {
  readonly #ledger: Pick<Ledger, 'balance' | 'state'>;
  readonly #settling: Pick<LedgerSettling, 'settle'>;

  constructor(ledger: Pick<Ledger, 'balance' | 'state'>, settling: Pick<LedgerSettling, 'settle'>) {
    this.#ledger = ledger;
    this.#settling = settling;
  }

  /**
   * As of the call. Throws a `Fault` (retry) when Redis is away, while the ledger is rebuilt, and when it stays behind
   * the log: its balances are not true then.
   */
  async balance(wallet: WalletAddress): Promise<Money> {
    if (!(await this.#settling.settle())) throw new Fault('newest_records_behind', 'retry');
    const [state, balance] = await Promise.all([
      this.#ledger.state(),
      this.#ledger.balance(wallet),
    ]);
    if (!state.ready) throw new Fault('ledger_not_ready', 'retry');
    return balance;
  }
}
