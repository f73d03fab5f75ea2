import type { Ledger } from '@pm/domain/ledger/ledger.io';
import { Fault } from '@pm/kit/fault';
import type { WalletAddress } from '@pm/schemas';
import type { Money } from './balances.ts';

/** Balances of the collateral ledger. */
export class Collateral {
  readonly #ledger: Pick<Ledger, 'balance' | 'state'>;

  constructor(ledger: Pick<Ledger, 'balance' | 'state'>) {
    this.#ledger = ledger;
  }

  /** Throws a `Fault` (retry) when Redis is away or while the ledger is rebuilt: its balances are not true then. */
  async balance(wallet: WalletAddress): Promise<Money> {
    const [state, balance] = await Promise.all([
      this.#ledger.state(),
      this.#ledger.balance(wallet),
    ]);
    if (!state.ready) throw new Fault('ledger_not_ready', 'retry');
    return balance;
  }
}
