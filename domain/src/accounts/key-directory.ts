import {
  type ApiKeyId,
  apiKeyFromBytes,
  type WalletAddress,
  walletFromBytes,
} from '@pm/schemas/ids';
import type { Credential } from '@pm/schemas/log/accounts';
import type { KeyKind, SelfTrade } from '@pm/schemas/log/types';

/** An API key as recorded on the topic `credentials`. */
export interface ListedKey {
  readonly apiKey: ApiKeyId;
  readonly wallet: WalletAddress;
  readonly nonce: string;
  /** Which key of the wallet and nonce, from 0 on. */
  readonly version: number;
  readonly kind: KeyKind;
  readonly active: boolean;
  /** Unix milliseconds. */
  readonly createdAtMs: number;
  /** Unix milliseconds; 0 when it is not revoked. */
  readonly revokedAtMs: number;
  /** Reaction of its orders when they meet one of their own wallet. */
  readonly selfTrade: SelfTrade;
}

/** The API keys of the exchange, folded from the compacted topic `credentials`. Keys are revoked, not deleted. */
export class KeyDirectory {
  readonly #keys = new Map<ApiKeyId, ListedKey>();
  readonly #ofWallet = new Map<WalletAddress, Set<ApiKeyId>>();

  /**
   * Takes the newest record of a key. False for one that would make a revoked key active: it crossed its revocation and
   * does not count. Records of earlier versions of this program could do that, and count. Keys whose record has
   * `ALLOW`, which no key can choose, act as by default.
   */
  apply(credential: Credential): boolean {
    const { nonce, version, active, createdAtMs, revokedAtMs, selfTrade } = credential;
    const known = this.#keys.get(apiKeyFromBytes(credential.apiKey));
    if (known?.active === false && active && version >= 0) return false;
    const key: ListedKey = {
      apiKey: apiKeyFromBytes(credential.apiKey),
      wallet: walletFromBytes(credential.wallet),
      kind: credential.keyKind,
      nonce,
      version: Math.max(0, version),
      active,
      createdAtMs,
      revokedAtMs,
      selfTrade: selfTrade === 'ALLOW' ? 'CANCEL_NEWEST' : selfTrade,
    };
    this.#keys.set(key.apiKey, key);
    const siblings = this.#ofWallet.get(key.wallet) ?? new Set<ApiKeyId>();
    this.#ofWallet.set(key.wallet, siblings.add(key.apiKey));
    return true;
  }

  /** The record of a key was deleted by hand: the key proves nothing any more. Its trades stay with its wallet. */
  forget(apiKey: ApiKeyId): void {
    this.#keys.delete(apiKey);
  }

  get size(): number {
    return this.#keys.size;
  }

  find(apiKey: ApiKeyId): ListedKey | undefined {
    return this.#keys.get(apiKey);
  }

  /** All keys that a wallet ever had, including revoked ones: their trades belong to it. */
  keysOf(wallet: WalletAddress): ReadonlySet<ApiKeyId> {
    return this.#ofWallet.get(wallet) ?? none;
  }

  /** The keys of one kind, including revoked ones, in the order of their first records. */
  listOf(wallet: WalletAddress, kind: KeyKind): readonly ListedKey[] {
    return [...this.keysOf(wallet)].flatMap((apiKey) => {
      const key = this.#keys.get(apiKey);
      return key?.kind === kind ? [key] : [];
    });
  }
}

const none: ReadonlySet<ApiKeyId> = new Set();
