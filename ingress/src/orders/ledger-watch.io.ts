import type { Ledger } from '@pm/domain/ledger/ledger';

/** How often the ledger is asked whether it takes reservations, milliseconds. */
const askEveryMs = 1_000;

/** Whether the collateral ledger is ready, for the readiness of this process; orders ask the ledger itself. */
export function watchLedger(ledger: Pick<Ledger, 'state'>) {
  let ready = false;
  const ask = async () => {
    try {
      ready = (await ledger.state()).ready;
    } catch {
      // Not reachable is not ready; the client of Redis logs why.
      ready = false;
    }
  };
  void ask();
  const timer = setInterval(() => void ask(), askEveryMs);
  return { isReady: () => ready, close: () => clearInterval(timer) };
}
