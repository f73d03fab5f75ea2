import { type Reader, showsReadKey } from '@pm/domain/accounts/reader-verifier';
import { type ApiKeyId, refusalText, type WalletAddress } from '@pm/schemas';
import { allWallets, type WalletSet } from './caller-wallets.ts';
import type { ReadPorts } from './ports.ts';
import { type ReadRequest, signedFacts } from './read-route.io.ts';
import { ReadRefusal, refusals } from './refusal.ts';

/** Who asks, and what is his. */
export interface Caller extends Reader {
  /** All keys of his wallet, revoked ones too: what they traded stays his. */
  readonly keys: ReadonlySet<ApiKeyId>;
  readonly walletSet: WalletSet;
  /** Every wallet he may trade from, his own address first. */
  readonly wallets: readonly WalletAddress[];
}

/** The proven caller of a private request; null when the headers prove nothing (conventions.md 2.3). */
export function provenCaller(
  callers: ReadPorts['callers'],
  raw: ReadRequest['raw'],
): Caller | null {
  const reader = callers.verify(signedFacts(raw));
  if (reader === null) return null;
  const walletSet = callers.walletsOf(reader.wallet);
  const keys = callers.keysOf(reader.wallet);
  return { ...reader, keys, walletSet, wallets: allWallets(walletSet) };
}

/** One refusal for whatever proves nothing, but a clock that is off is told how far (conventions.md 2.3, 2.4). */
export function unproven(
  { callers, nowMs }: Pick<ReadPorts, 'callers' | 'nowMs'>,
  { headers }: ReadRequest['raw'],
): ReadRefusal {
  const skewMs = showsReadKey(headers) ? null : callers.skewMs(headers);
  if (skewMs === null) return refusals.unauthorized;
  const serverMs = nowMs();
  const said = { skew: (skewMs / 1000).toFixed(3), server: (serverMs / 1000).toFixed(3) };
  const facts = { code: 'timestamp_skew', server_time: serverMs };
  return new ReadRefusal(401, refusalText('timestamp_skew', said), facts);
}

/** Whether an order or trade of this key and wallet is his. */
export function isOwn(caller: Caller, row: { readonly wallet: string; readonly apiKey: string }) {
  return row.wallet === caller.wallet || [...caller.keys].some((key) => key === row.apiKey);
}
