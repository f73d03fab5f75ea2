import {
  type ApiKeyId,
  apiKeyFromBytes,
  type Credential,
  type KeyKind,
  type SelfTrade,
  type WalletAddress,
  walletFromBytes,
} from '@pm/schemas';

/** An API key as the topic `credentials` tells it. */
export interface ListedKey {
  readonly apiKey: ApiKeyId;
  readonly wallet: WalletAddress;
  readonly nonce: string;
  readonly kind: KeyKind;
  readonly active: boolean;
  /** Created or last re-activated, Unix milliseconds. */
  readonly createdAtMs: number;
  /** Unix milliseconds; 0 when it is not revoked. */
  readonly revokedAtMs: number;
  /** What its orders do when they meet one of their own wallet. */
  readonly selfTrade: SelfTrade;
}

/** The API keys of the exchange, folded from the compacted topic `credentials`. Keys are revoked, not deleted. */
export class KeyDirectory {
  readonly #keys = new Map<ApiKeyId, ListedKey>();
  readonly #ofWallet = new Map<WalletAddress, Set<ApiKeyId>>();

  /** Takes the newest record of a key. */
  apply(credential: Credential): void {
    const { nonce, active, createdAtMs, revokedAtMs, selfTrade } = credential;
    const key: ListedKey = {
      apiKey: apiKeyFromBytes(credential.apiKey),
      wallet: walletFromBytes(credential.wallet),
      kind: credential.keyKind,
      ...{ nonce, active, createdAtMs, revokedAtMs, selfTrade },
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

  /** The keys of one kind, revoked ones too, in the order in which they came to be known. */
  listOf(wallet: WalletAddress, kind: KeyKind): readonly ListedKey[] {
    return [...this.keysOf(wallet)].flatMap((apiKey) => {
      const key = this.#keys.get(apiKey);
      return key?.kind === kind ? [key] : [];
    });
  }
}

const none: ReadonlySet<ApiKeyId> = new Set();
