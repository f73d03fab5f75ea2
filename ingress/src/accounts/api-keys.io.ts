import { type DerivedKey, deriveKey, trioOf } from '@pm/domain/accounts/derive-keys';
import type { KeyDirectory, ListedKey } from '@pm/domain/accounts/key-directory';
import type { Clock } from '@pm/kit/clock';
import {
  type ApiKeyId,
  type ApiKeyTrio,
  apiKeyBytes,
  type Credential,
  hexBytes,
  type KeyKind,
  parseApiKeyId,
  type SelfTrade,
  type WalletAddress,
  walletFromBytes,
} from '@pm/schemas';
import type { CompactedTable, TableFold } from '../log/compacted-table.io.ts';
import { KeyedMutex } from '../log/keyed-mutex.io.ts';

export interface ApiKeysOptions {
  /** The server's secret that all keys are derived from. */
  readonly serverSecret: Buffer;
  readonly clock: Clock;
  readonly directory: KeyDirectory;
  /** The topic `credentials`, folded by `keyFold` into the directory. */
  readonly table: Pick<CompactedTable<Credential>, 'write'>;
}

/** A key, or the limit that it would break. */
export type MadeKey = ApiKeyTrio | { readonly max: number };

/** How the topic `credentials` is folded: every wallet on it was proven by making a key for it. */
export function keyFold(
  directory: KeyDirectory,
  owners: { prove(owner: WalletAddress): void },
): TableFold<Credential> {
  return {
    apply(credential) {
      directory.apply(credential);
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
    const derived = this.#deriveKey(wallet, nonce);
    return this.#find(derived.apiKey)?.active === true ? trioOf(derived) : null;
  }

  /** The key of wallet and nonce, made or made active again; resolves when it is durable. Throws a `Fault`. */
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

  /** Revokes the key of wallet and nonce; false when it was never made. */
  revokeNonce(wallet: WalletAddress, nonce: string): Promise<boolean> {
    return this.revoke(wallet, 'TRADING', this.#deriveKey(wallet, nonce).apiKey);
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
    const derived = this.#deriveKey(wallet, nonce);
    const known = this.#find(derived.apiKey);
    if (known?.active === true) return trioOf(derived);
    const max = brokenKeyLimit(this.list(wallet, kind), known === undefined);
    if (max !== null) return { max };
    const { apiKey } = derived;
    const selfTrade = known?.selfTrade ?? 'CANCEL_NEWEST';
    const createdAtMs = this.#options.clock.nowMs();
    const made = { apiKey, wallet, kind, nonce, selfTrade, createdAtMs };
    await this.#write({ ...made, active: true, revokedAtMs: 0 });
    return trioOf(derived);
  }

  async #write(key: ListedKey): Promise<void> {
    const { apiKey, wallet, kind, ...kept } = key;
    const ids = { apiKey: apiKeyBytes(apiKey), wallet: hexBytes(wallet) };
    await this.#options.table.write([{ key: apiKey, value: { ...ids, ...kept, keyKind: kind } }]);
  }

  #find(apiKey: ApiKeyId): ListedKey | undefined {
    return this.#options.directory.find(apiKey);
  }

  #deriveKey(wallet: WalletAddress, nonce: string): DerivedKey {
    return deriveKey(this.#options.serverSecret, { wallet, nonce });
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

/** The limit that one more key would break; null when there is room. An old key that is made active again is not new. */
export function brokenKeyLimit(
  keys: readonly { readonly active: boolean }[],
  isNew: boolean,
): number | null {
  if (keys.filter(({ active }) => active).length >= activeKeysMax) return activeKeysMax;
  return isNew && keys.length >= keysEverMax ? keysEverMax : null;
}
