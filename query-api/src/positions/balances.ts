import type { AcceptedDomains } from '@pm/domain/accounts/signing-domain';
import type { Catalog } from '@pm/domain/markets/catalog';
import { QueryReader, type RawQuery } from '@pm/domain/reading/query-reader';
import { type ReadRefusal, refusals } from '@pm/domain/reading/refusal';
import { microText } from '@pm/schemas/decimal';
import type { TokenBalance, WalletBalances } from '@pm/schemas/http/private-reading';
import {
  checksumAddress,
  parseTokenId,
  parseWalletAddress,
  type WalletAddress,
  walletFromBytes,
} from '@pm/schemas/ids';
import { type SignatureType, signatureTypes } from '@pm/schemas/signing';
import type { Holding } from './holdings.ts';

/** The request of GET /balance-allowance; the token is null for collateral. */
export interface BalanceQuery {
  readonly token: string | null;
  readonly signatureType: SignatureType;
  /** The wallet meant, where a signature type alone does not say it. */
  readonly wallet: string | null;
}

const types = new Map<string, SignatureType>(signatureTypes.map((type) => [String(type), type]));

/** The parameters, or why not. `-1` is what clients send that have not chosen a type: the own address. */
export function readBalanceQuery(query: RawQuery): BalanceQuery | ReadRefusal {
  const read = new QueryReader(query, 'clob');
  const assetType = read.text('asset_type')?.toUpperCase();
  if (assetType !== 'COLLATERAL' && assetType !== 'CONDITIONAL') return refusals.invalidAssetType;
  const given = read.text('signature_type') ?? '0';
  const signatureType = given === '-1' ? 0 : types.get(given);
  if (signatureType === undefined || read.refusal !== null) return refusals.invalidSignatureType;
  const walletText = read.text('wallet');
  const wallet = walletText === null ? null : parseWalletAddress(walletText);
  if (wallet === null && walletText !== null) return refusals.foreignWallet;
  if (assetType === 'COLLATERAL') return { token: null, signatureType, wallet };
  const token = parseTokenId(read.text('token_id') ?? '');
  return token === null ? refusals.invalidToken : { token, signatureType, wallet };
}

/** Collateral of a wallet in micro-USDC (domain/src/ledger/ledger.ts). */
export interface Money {
  readonly freeMicro: number;
  /** Bound to resting orders. */
  readonly heldMicro: number;
  /** Part of `freeMicro` that is bound to orders in flight. */
  readonly pendingMicro: number;
}

/** There is no chain to approve on: every exchange contract may move everything. */
const unlimited = ((1n << 256n) - 1n).toString();

/** One entry per contract of the accepted domains, keyed as clients compare them: checksummed. */
export function allowancesOf({ own, family }: AcceptedDomains): Readonly<Record<string, string>> {
  const contracts = [own, ...family].flatMap((one) => [one.exchange, one.negRiskExchange]);
  return Object.fromEntries(contracts.map((contract) => [checksummed(contract), unlimited]));
}

function checksummed(contract: string): string {
  return checksumAddress(walletFromBytes(Buffer.from(contract.slice(2), 'hex')));
}

/** Collateral of a wallet before its open orders are deducted: clients do that themselves. */
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
