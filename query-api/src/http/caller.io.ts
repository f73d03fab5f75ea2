import type { RawHeaders } from '@pm/domain/accounts/auth-headers';
import { type Reader, showsReadKey } from '@pm/domain/accounts/reader-verifier';
import { allWallets, type WalletSet } from '@pm/domain/reading/caller-wallets';
import { ReadRefusal, refusals } from '@pm/domain/reading/refusal';
import type { ApiKeyId, WalletAddress } from '@pm/schemas/ids';
import { refusalText } from '@pm/schemas/refusals';
import { type ReadRequest, type SignedFacts, signedFacts } from './read-route.io.ts';

/** Which wallet a request proves, and the keys and wallets of its owner. */
export interface CallerDirectory {
  /** Null when the headers prove nothing. */
  verify(request: SignedFacts): Reader | null;
  /** All keys the wallet ever had. */
  keysOf(wallet: WalletAddress): ReadonlySet<ApiKeyId>;
  /** How far the clock of a private request is off when it is too far, milliseconds; else null. */
  skewMs(headers: RawHeaders): number | null;
  /** The wallets its owner trades from. */
  walletsOf(wallet: WalletAddress): WalletSet;
}

export interface CallerParts {
  readonly callers: CallerDirectory;
  nowMs(): number;
}

/** The wallet that a request proves, with all keys and wallets of its owner. */
export interface Caller extends Reader {
  /** All keys of the wallet, revoked ones too: their trades remain those of the caller. */
  readonly keys: ReadonlySet<ApiKeyId>;
  readonly walletSet: WalletSet;
  /** Every wallet the caller may trade from, its own address first. */
  readonly wallets: readonly WalletAddress[];
}

/** The proven caller of a private request; null when the headers prove nothing (conventions.md 2.3). */
export function provenCaller(callers: CallerDirectory, raw: ReadRequest['raw']): Caller | null {
  const reader = callers.verify(signedFacts(raw));
  if (reader === null) return null;
  const walletSet = callers.walletsOf(reader.wallet);
  const keys = callers.keysOf(reader.wallet);
  return { ...reader, keys, walletSet, wallets: allWallets(walletSet) };
}

/** One refusal for every failed proof; only a clock that is off gets its distance (conventions.md 2.3, 2.4). */
export function unproven(
  { callers, nowMs }: CallerParts,
  { headers }: ReadRequest['raw'],
): ReadRefusal {
  const skewMs = showsReadKey(headers) ? null : callers.skewMs(headers);
  if (skewMs === null) return refusals.unauthorized;
  const serverMs = nowMs();
  const shown = { skew: (skewMs / 1000).toFixed(3), server: (serverMs / 1000).toFixed(3) };
  const facts = { code: 'timestamp_skew', server_time: serverMs };
  return new ReadRefusal(401, refusalText('timestamp_skew', shown), facts);
}

/** Whether an order or trade of this key and wallet is of the caller. */
export function isOwn(caller: Caller, row: { readonly wallet: string; readonly apiKey: string }) {
  return row.wallet === caller.wallet || [...caller.keys].some((key) => key === row.apiKey);
}
