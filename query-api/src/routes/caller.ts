import type { Reader } from '@pm/kit/walletauth';
import type { ApiKeyId, WalletAddress } from '@pm/schemas';
import { allWallets, type WalletSet } from '../core/caller-wallets.ts';
import type { CallerReads } from './ports.ts';
import { type ReadRequest, signedFacts } from './route.ts';

/** Who asks, and what is his. */
export interface Caller extends Reader {
  /** All keys of his wallet, revoked ones too: what they traded stays his. */
  readonly keys: ReadonlySet<ApiKeyId>;
  readonly walletSet: WalletSet;
  /** Every wallet he may trade from, his own address first. */
  readonly wallets: readonly WalletAddress[];
}

/** The proven caller of a private request; null when the headers prove nothing (docs/conventions.md 2.3). */
export function provenCaller(callers: CallerReads, raw: ReadRequest['raw']): Caller | null {
  const reader = callers.verify(signedFacts(raw));
  if (reader === null) return null;
  const walletSet = callers.walletsOf(reader.wallet);
  const keys = callers.keysOf(reader.wallet);
  return { ...reader, keys, walletSet, wallets: allWallets(walletSet) };
}

/** Whether an order or trade of this key and wallet is his. */
export function isOwn(caller: Caller, row: { readonly wallet: string; readonly apiKey: string }) {
  return row.wallet === caller.wallet || [...caller.keys].some((key) => key === row.apiKey);
}
