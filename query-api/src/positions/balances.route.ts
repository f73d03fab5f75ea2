import type { AcceptedDomains } from '@pm/domain/accounts/signing-domain';
import type { Catalog } from '@pm/domain/markets/catalog';
import { walletsOfType } from '@pm/domain/reading/caller-wallets';
import { ReadRefusal, refusals } from '@pm/domain/reading/refusal';
import type { HttpHandler } from '@pm/kit/http';
import type { WalletAddress } from '@pm/schemas/ids';
import type { CallerDirectory } from '../http/caller.io.ts';
import { type Caller, provenCaller, unproven } from '../http/caller.io.ts';
import { readRoute } from '../http/read-route.io.ts';
import type { OwnRecords } from '../recent/own-reads.io.ts';
import {
  allowancesOf,
  type BalanceQuery,
  ownedMicro,
  readBalanceQuery,
  walletBalances,
} from './balances.ts';
import type { Collateral } from './collateral.io.ts';

export interface BalanceParts {
  readonly catalog: Catalog;
  readonly own: Pick<OwnRecords, 'holdings'>;
  readonly collateral: Pick<Collateral, 'balance'>;
  readonly callers: CallerDirectory;
  /** Domains that accepted orders are signed for. */
  readonly domains: AcceptedDomains;
  nowMs(): number;
}

/** Wallets that one request reads. */
const walletsMax = 100;

/**
 * GET /balance-allowance, and its `/update`, which has nothing to refresh here: what the caller owns, in base units,
 * before its open orders are counted off (conventions.md 4.1). Of several wallets of one signature type the richest
 * answers.
 */
export function balanceAllowanceRoutes(parts: BalanceParts): readonly HttpHandler[] {
  const allowances = allowancesOf(parts.domains);
  return ['/balance-allowance', '/balance-allowance/update'].map((path) =>
    readRoute({ method: 'GET', path, family: 'clob' }, async ({ query, raw }) => {
      const caller = provenCaller(parts.callers, raw);
      if (caller === null) return unproven(parts, raw);
      const requested = readBalanceQuery(query);
      if (requested instanceof ReadRefusal) return requested;
      const wallets = requestedWallets(caller, requested);
      if (wallets instanceof ReadRefusal) return wallets;
      const found = await balances(parts, wallets, requested.token);
      return { balance: String(Math.max(0, ...found)), allowances };
    }),
  );
}

function requestedWallets(
  { wallets, walletSet }: Caller,
  { wallet, signatureType }: BalanceQuery,
): readonly WalletAddress[] | ReadRefusal {
  if (wallet === null) return walletsOfType(walletSet, signatureType).slice(0, walletsMax);
  const named = wallets.find((one) => one === wallet);
  return named === undefined ? refusals.foreignWallet : [named];
}

async function balances(
  { catalog, own, collateral }: BalanceParts,
  wallets: readonly WalletAddress[],
  token: string | null,
): Promise<readonly number[]> {
  if (token === null) {
    const found = await Promise.all(wallets.map((wallet) => collateral.balance(wallet)));
    return found.map(ownedMicro);
  }
  const listing = catalog.listing(token);
  if (listing === undefined || wallets.length === 0) return [];
  const { market, outcome } = listing;
  const holdings = await own.holdings({ wallets, market: market.market });
  return holdings.filter((one) => one.outcome === outcome).map(({ sizeMicro }) => sizeMicro);
}

/**
 * GET /balances: everything the caller has, wallet by wallet: its own address always, the others when there is
 * something in them (conventions.md 4.1).
 */
export function balancesRoute(parts: BalanceParts): HttpHandler {
  const route = { method: 'GET', path: '/balances', family: 'clob' } as const;
  return readRoute(route, async ({ raw }) => {
    const caller = provenCaller(parts.callers, raw);
    if (caller === null) return unproven(parts, raw);
    const wallets = caller.wallets.slice(0, walletsMax);
    const [money, holdings] = await Promise.all([
      Promise.all(wallets.map((wallet) => parts.collateral.balance(wallet))),
      parts.own.holdings({ wallets, market: null }),
    ]);
    const entries = wallets.flatMap((wallet, index) => {
      const found = money[index] ?? nothing;
      const held = holdings.filter((one) => one.wallet === wallet);
      if (!isShown(wallet, caller.wallet, [found.freeMicro, found.heldMicro, held.length]))
        return [];
      return [walletBalances(parts.catalog, wallet, { money: found, holdings: held })];
    });
    return { wallets: entries };
  });
}

const nothing = { freeMicro: 0, heldMicro: 0, pendingMicro: 0 };

function isShown(wallet: WalletAddress, own: WalletAddress, amounts: readonly number[]): boolean {
  return wallet === own || amounts.some((amount) => amount !== 0);
}
