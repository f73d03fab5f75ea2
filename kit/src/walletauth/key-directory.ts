import {
  type ApiKeyId,
  apiKeyFromBytes,
  type Credential,
  type WalletAddress,
  walletFromBytes,
} from '@pm/schemas';

/** An API key as the topic `credentials` tells it. */
export interface ListedKey {
  readonly apiKey: ApiKeyId;
  readonly wallet: WalletAddress;
  readonly nonce: string;
  readonly active: boolean;
}

/** The API keys of the exchange, folded from the compacted topic `credentials`. Keys are revoked, not deleted. */
export class KeyDirectory {
  readonly #keys = new Map<ApiKeyId, ListedKey>();
  readonly #ofWallet = new Map<WalletAddress, Set<ApiKeyId>>();

  /** Takes the newest record of a key. */
  apply(credential: Credential): void {
    const key: ListedKey = {
      apiKey: apiKeyFromBytes(credential.apiKey),
      wallet: walletFromBytes(credential.wallet),
      nonce: credential.nonce,
      active: credential.active,
    };
    this.#keys.set(key.apiKey, key);
    const siblings = this.#ofWallet.get(key.wallet) ?? new Set<ApiKeyId>();
    this.#ofWallet.set(key.wallet, siblings.add(key.apiKey));
  }

  /** The record of a key was deleted by hand: it proves nothing any more. What it traded stays with its wallet. */
  forget(apiKey: ApiKeyId): void {
    this.#keys.delete(apiKey);
  }

  get size(): number {
    return this.#keys.size;
  }

  find(apiKey: ApiKeyId): ListedKey | undefined {
    return this.#keys.get(apiKey);
  }

  /** All keys a wallet ever had, revoked ones too: what they traded stays its own. */
  keysOf(wallet: WalletAddress): ReadonlySet<ApiKeyId> {
    return this.#ofWallet.get(wallet) ?? none;
  }
}

const none: ReadonlySet<ApiKeyId> = new Set();
