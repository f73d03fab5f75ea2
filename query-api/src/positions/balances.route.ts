import type { DoorRoute } from '@pm/kit/http';
import type { WalletAddress } from '@pm/schemas';
import { provenCaller, unproven } from '../door/caller.io.ts';
import type { ReadPorts } from '../door/ports.ts';
import { readRoute } from '../door/read-route.io.ts';
import { walletBalances } from './balances.ts';

type Ports = Pick<ReadPorts, 'catalog' | 'own' | 'money' | 'callers' | 'nowMs'>;

/** Wallets of one answer. */
const walletsMax = 100;

/**
 * GET /balances: everything the caller has, wallet by wallet: his own address always, the others when there is something in
 * them (conventions.md 1.7).
 */
export function balancesRoute(ports: Ports): DoorRoute {
  const route = { method: 'GET', path: '/balances', family: 'clob' } as const;
  return readRoute(route, async ({ raw }) => {
    const caller = provenCaller(ports.callers, raw);
    if (caller === null) return unproven(ports, raw);
    const wallets = caller.wallets.slice(0, walletsMax);
    const [money, holdings] = await Promise.all([
      Promise.all(wallets.map((wallet) => ports.money.balance(wallet))),
      ports.own.holdings({ wallets, market: null }),
    ]);
    const entries = wallets.flatMap((wallet, index) => {
      const found = money[index] ?? nothing;
      const held = holdings.filter((one) => one.wallet === wallet);
      if (!isShown(wallet, caller.wallet, [found.freeMicro, found.heldMicro, held.length]))
        return [];
      return [walletBalances(ports.catalog, wallet, { money: found, holdings: held })];
    });
    return { wallets: entries };
  });
}

const nothing = { freeMicro: 0, heldMicro: 0, pendingMicro: 0 };

function isShown(wallet: WalletAddress, own: WalletAddress, amounts: readonly number[]): boolean {
  return wallet === own || amounts.some((amount) => amount !== 0);
}
