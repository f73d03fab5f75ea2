import {
  type DerivedKey,
  deriveKey,
  deriveListed,
  type KeySecrets,
  trioOf,
} from '@pm/domain/accounts/derive-keys';
import type { KeyDirectory, ListedKey } from '@pm/domain/accounts/key-directory';
import type { CompactedTable, TableFold } from '@pm/domain/commands/compacted-table.io';
import { KeyedMutex } from '@pm/domain/commands/keyed-mutex.io';
import type { Clock } from '@pm/kit/clock';
import type { ApiKeyTrio } from '@pm/schemas/http/trading';
import {
  type ApiKeyId,
  apiKeyBytes,
  apiKeyFromBytes,
  hexBytes,
  parseApiKeyId,
  type WalletAddress,
  walletFromBytes,
} from '@pm/schemas/ids';
import type { Credential } from '@pm/schemas/log/accounts';
import type { KeyKind, SelfTrade } from '@pm/schemas/log/types';
import { freeEntries, replacedKeysFactor } from '@pm/schemas/redis/held-entries';
import type { BrokenLimit, EntryQuota } from './entry-quota.io.ts';

export interface ApiKeysOptions {
  readonly secrets: KeySecrets;
  readonly clock: Clock;
  readonly directory: KeyDirectory;
  /** The topic `credentials`, folded by `keyFold` into the directory. */
  readonly table: Pick<CompactedTable<Credential>, 'write'>;
  readonly entryQuota: Pick<EntryQuota, 'admits'>;
}

/** A timestamp in whole seconds may be so much before the moment at which it was signed, milliseconds. */
const timestampStepMs = 999;

/** A nonce of a wallet, and when the wallet signed it. */
export interface SignedNonce {
  readonly address: WalletAddress;
  readonly nonce: string;
  readonly timestampMs: number;
}

/** A key, or the limit that it would break. */
export type MadeKey = ApiKeyTrio | BrokenLimit;

/**
 * How the topic `credentials` is folded: every wallet on it was proven by making a key for it. `onRevived` is called
 * with a revoked key that a record would make active again.
 */
export function keyFold(
  directory: KeyDirectory,
  owners: { prove(owner: WalletAddress): void },
  onRevived: (apiKey: ApiKeyId) => void,
): TableFold<Credential> {
  return {
    apply(credential) {
      if (!directory.apply(credential)) onRevived(apiKeyFromBytes(credential.apiKey));
      owners.prove(walletFromBytes(credential.wallet));
    },
    forget(key) {
      const apiKey = parseApiKeyId(key);
      if (apiKey !== null) directory.forget(apiKey);
    },
  };
}

/** Gives API keys out and takes them back. The secrets are derived, never stored (conventions.md 2.1). */
export class ApiKeys {
  readonly #options: ApiKeysOptions;
  /** By wallet: a key is read, changed and written as a whole. */
  readonly #mutex = new KeyedMutex();

  constructor(options: ApiKeysOptions) {
    this.#options = options;
  }

  get size(): number {
    return this.#options.directory.size;
  }

  /** The active key of wallet and nonce; null when there is none. */
  derive(wallet: WalletAddress, nonce: string): ApiKeyTrio | null {
    const live = this.#liveOf(wallet, 'TRADING', nonce);
    return live === null ? null : trioOf(live);
  }

  /**
   * Whether a wallet signed this before its newest key of the nonce was revoked: a captured signature makes no key
   * after a revocation.
   */
  isFromBeforeRevocation({ address, nonce, timestampMs }: SignedNonce): boolean {
    if (this.#liveOf(address, 'TRADING', nonce) !== null) return false;
    const newest = this.#keysOf(address, 'TRADING', nonce)[0];
    return (newest?.revokedAtMs ?? 0) > timestampMs + timestampStepMs;
  }

  /** Whether a wallet signed this before its present key of the nonce was made: it revokes no later key. */
  isFromBeforeKey({ address, nonce, timestampMs }: SignedNonce): boolean {
    const newest = this.#keysOf(address, 'TRADING', nonce)[0];
    return newest?.active === true && newest.createdAtMs > timestampMs + timestampStepMs;
  }

  /**
   * The active key of wallet and nonce, or a new one, whose secret no earlier key had; resolves when it is durable.
   * Throws a `Fault`.
   */
  create(wallet: WalletAddress, nonce: string): Promise<MadeKey> {
    return this.#mutex.run(wallet, () => this.#make(wallet, 'TRADING', nonce));
  }

  /** One more key that names a builder. */
  createBuilder(wallet: WalletAddress): Promise<MadeKey> {
    return this.#mutex.run(wallet, () => {
      // No nonce that a wallet can sign: such keys can only be made here.
      const nonce = `builder:${this.list(wallet, 'BUILDER').length}`;
      return this.#make(wallet, 'BUILDER', nonce);
    });
  }

  /** Keys of one kind, revoked ones too. */
  list(wallet: WalletAddress, kind: KeyKind): readonly ListedKey[] {
    return this.#options.directory.listOf(wallet, kind);
  }

  /** Whether the wallet has such a key; it proves nothing from here on, in the other processes within milliseconds. */
  revoke(wallet: WalletAddress, kind: KeyKind, apiKey: ApiKeyId): Promise<boolean> {
    return this.#mutex.run(wallet, async () => {
      const key = this.#find(apiKey);
      if (key === undefined || key.wallet !== wallet || key.kind !== kind) return false;
      const revokedAtMs = this.#options.clock.nowMs();
      if (key.active) await this.#write({ ...key, active: false, revokedAtMs });
      return true;
    });
  }

  /** Revokes the newest key of wallet and nonce; false when there was never one. */
  async revokeNonce(wallet: WalletAddress, nonce: string): Promise<boolean> {
    const newest = this.#keysOf(wallet, 'TRADING', nonce)[0];
    return newest !== undefined && (await this.revoke(wallet, 'TRADING', newest.apiKey));
  }

  /** Writes the record of a revoked key again, after one that crossed its revocation in the log. */
  revokeAgain(apiKey: ApiKeyId): Promise<void> {
    const { wallet } = this.#find(apiKey) ?? {};
    if (wallet === undefined) return Promise.resolve();
    return this.#mutex.run(wallet, async () => {
      const key = this.#find(apiKey);
      if (key?.active === false) await this.#write(key);
    });
  }

  /** False when the key was revoked meanwhile. */
  setSelfTrade(wallet: WalletAddress, apiKey: ApiKeyId, selfTrade: SelfTrade): Promise<boolean> {
    return this.#mutex.run(wallet, async () => {
      const key = this.#find(apiKey);
      if (key?.active !== true || key.wallet !== wallet) return false;
      if (key.selfTrade !== selfTrade) await this.#write({ ...key, selfTrade });
      return true;
    });
  }

  async #make(wallet: WalletAddress, kind: KeyKind, nonce: string): Promise<MadeKey> {
    const live = this.#liveOf(wallet, kind, nonce);
    if (live !== null) return trioOf(live);
    const { secrets } = this.#options;
    const isLive = (key: ListedKey) => key.active && deriveListed(secrets, key) !== null;
    const max = brokenKeyLimit(this.list(wallet, kind).map((key) => ({ active: isLive(key) })));
    if (max !== null) return { max };
    if (!(await this.#hasRoom(wallet, kind))) return { max: null };
    const newest = this.#keysOf(wallet, kind, nonce)[0];
    const version = newest === undefined ? 0 : newest.version + 1;
    const derived = deriveKey(secrets.present, { wallet, nonce, version });
    const { apiKey } = derived;
    const selfTrade = newest?.selfTrade ?? 'CANCEL_NEWEST';
    const createdAtMs = this.#options.clock.nowMs();
    const made = { apiKey, wallet, kind, nonce, version, selfTrade, createdAtMs };
    await this.#write({ ...made, active: true, revokedAtMs: 0 });
    return trioOf(derived);
  }

  /** A wallet whose only key was revoked may replace it for longer than others may have a first one. */
  #hasRoom(wallet: WalletAddress, kind: KeyKind): Promise<boolean> {
    const { directory, entryQuota } = this.#options;
    const keys = this.list(wallet, kind);
    const isReplaced = keys.length > 0 && !keys.some(({ active }) => active);
    const free = freeEntries.apiKeys * (isReplaced ? replacedKeysFactor : 1);
    return entryQuota.admits({ entries: directory.size, free }, wallet);
  }

  /** The keys of wallet and nonce, the newest version first. */
  #keysOf(wallet: WalletAddress, kind: KeyKind, nonce: string): readonly ListedKey[] {
    const all = this.list(wallet, kind).filter((key) => key.nonce === nonce);
    return all.sort((left, right) => right.version - left.version);
  }

  /** The newest key of wallet and nonce, unless it is revoked or its secret is no longer valid. */
  #liveOf(wallet: WalletAddress, kind: KeyKind, nonce: string): DerivedKey | null {
    const newest = this.#keysOf(wallet, kind, nonce)[0];
    return newest?.active === true ? deriveListed(this.#options.secrets, newest) : null;
  }

  async #write(key: ListedKey): Promise<void> {
    const { apiKey, wallet, kind, ...kept } = key;
    const ids = { apiKey: apiKeyBytes(apiKey), wallet: hexBytes(wallet) };
    await this.#options.table.write([{ key: apiKey, value: { ...ids, ...kept, keyKind: kind } }]);
  }

  #find(apiKey: ApiKeyId): ListedKey | undefined {
    return this.#options.directory.find(apiKey);
  }
}

/** Keys of one kind that a wallet may use at a time. */
export const activeKeysMax = 50;
/** Keys of one kind that a wallet may ever have: revoked ones are remembered for ever. */
export const keysEverMax = 1_000;
/** Agents that a wallet may have at a time. */
export const agentsMax = 50;
/** Agents that a wallet may ever have: deleted ones are remembered for ever. */
export const agentsEverMax = 1_000;

/** The limit that one more key would break; null when there is room. */
export function brokenKeyLimit(keys: readonly { readonly active: boolean }[]): number | null {
  if (keys.filter(({ active }) => active).length >= activeKeysMax) return activeKeysMax;
  return keys.length >= keysEverMax ? keysEverMax : null;
}
