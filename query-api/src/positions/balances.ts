import type { WalletAddress } from '@pm/schemas';
import {
  checksumAddress,
  microText,
  signingDomains,
  type TokenBalance,
  type WalletBalances,
  walletFromBytes,
} from '@pm/schemas';
import type { Catalog } from '../markets/catalog.ts';
import type { Holding } from './holdings.ts';

/** Collateral of a wallet in micro-USDC (domain/src/ledger/ledger.ts). */
export interface Money {
  readonly freeMicro: number;
  /** Bound to resting orders. */
  readonly heldMicro: number;
  /** Of the free part: bound to orders that are on their way. */
  readonly pendingMicro: number;
}

/** There is no chain to approve on: every exchange contract may move everything. */
const unlimited = ((1n << 256n) - 1n).toString();

/** One entry per accepted contract, keyed as clients compare them: checksummed. */
const allowances: Readonly<Record<string, string>> = Object.fromEntries(
  signingDomains.flatMap(({ exchange, negRiskExchange }) =>
    [exchange, negRiskExchange].map((contract) => [checksummed(contract), unlimited]),
  ),
);

function checksummed(contract: string): string {
  return checksumAddress(walletFromBytes(Buffer.from(contract.slice(2), 'hex')));
}

/** What clients ask before they trade: base units as text, and unlimited allowances (conventions.md 1.7). */
export function balanceAllowance(balanceMicro: number) {
  return { balance: String(balanceMicro), allowances };
}

/** What a wallet owns before its open orders are counted off: clients do that themselves. */
export function ownedMicro({ freeMicro, heldMicro }: Money): number {
  return freeMicro + heldMicro;
}

/** Everything a wallet has, in decimal USDC and shares. */
export function walletBalances(
  catalog: Catalog,
  wallet: WalletAddress,
  { money, holdings }: { readonly money: Money; readonly holdings: readonly Holding[] },
): WalletBalances {
  const { freeMicro, heldMicro, pendingMicro } = money;
  return {
    wallet: checksumAddress(wallet),
    usdc: {
      total: microText(ownedMicro(money)),
      free: microText(freeMicro),
      held: microText(heldMicro),
      pending: microText(pendingMicro),
      available: microText(freeMicro - pendingMicro),
    },
    tokens: holdings.flatMap((holding) => tokenBalance(catalog, holding)),
  };
}

function tokenBalance(catalog: Catalog, holding: Holding): readonly TokenBalance[] {
  const market = catalog.market(holding.market);
  if (market === undefined) return [];
  const { outcome, sizeMicro } = holding;
  return [
    {
      asset_id: market.tokens[outcome],
      market: market.conditionId,
      outcome: market.outcomes[outcome],
      outcome_index: outcome,
      size: microText(sizeMicro),
    },
  ];
}
