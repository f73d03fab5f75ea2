import { parseTokenId, parseWalletAddress, type SignatureType, signatureTypes } from '@pm/schemas';
import { QueryReader, type RawQuery } from '../door/query-reader.ts';
import { type ReadRefusal, refusals } from '../door/refusal.ts';

/** What GET /balance-allowance is asked; the token is null for collateral. */
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
