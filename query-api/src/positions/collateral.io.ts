import type { Ledger } from '@pm/domain/ledger/ledger';
import { Fault } from '@pm/kit/fault';
import type { MoneyReads } from '../door/ports.ts';

/** Balances of the collateral ledger; while it is folded anew there is nothing true to tell. */
export function openMoney(ledger: Pick<Ledger, 'balance' | 'state'>): MoneyReads {
  return {
    async balance(wallet) {
      const [state, balance] = await Promise.all([ledger.state(), ledger.balance(wallet)]);
      if (!state.ready) throw new Fault('ledger_not_ready', 'retry');
      return balance;
    },
  };
}
