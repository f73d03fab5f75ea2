import type { Clock } from '@pm/kit/clock';
import { followTable } from '@pm/kit/compacted';
import type { Fault } from '@pm/kit/fault';
import type { Log } from '@pm/kit/log';
import { type DerivedKey, deriveKey, KeyDirectory, trioOf } from '@pm/kit/walletauth';
import {
  type ApiKeyTrio,
  apiKeyBytes,
  type Credential,
  hexBytes,
  parseApiKeyId,
  type WalletAddress,
  walletFromBytes,
} from '@pm/schemas';
import type { OpenLog } from './log-store.ts';

export interface KeyStoreOptions {
  /** The server's secret that all keys are derived from. */
  readonly serverSecret: Buffer;
  readonly clock: Clock;
  /** Resolves when the record is durable on `credentials`. Rejects with a `Fault`. */
  append(apiKey: string, credential: Credential): Promise<void>;
  /** Told each address that was proven by making a key for it. */
  readonly owners: { prove(owner: WalletAddress): void };
}

/** All API keys, from the compacted topic `credentials`. The secrets are derived, never stored (docs/conventions.md 2.1). */
export class KeyStore {
  readonly #options: KeyStoreOptions;
  readonly directory = new KeyDirectory();

  constructor(options: KeyStoreOptions) {
    this.#options = options;
  }

  get size(): number {
    return this.directory.size;
  }

  /** Takes a record of the topic in. */
  take(credential: Credential): void {
    this.directory.apply(credential);
    this.#options.owners.prove(walletFromBytes(credential.wallet));
  }

  /** The record of this key was deleted from the topic. */
  forget(key: string): void {
    const apiKey = parseApiKeyId(key);
    if (apiKey !== null) this.directory.forget(apiKey);
  }

  derive(wallet: WalletAddress, nonce: string): ApiKeyTrio | null {
    const derived = this.#deriveKey(wallet, nonce);
    return this.directory.find(derived.apiKey)?.active === true ? trioOf(derived) : null;
  }

  async create(wallet: WalletAddress, nonce: string): Promise<ApiKeyTrio> {
    const known = this.derive(wallet, nonce);
    if (known !== null) return known;
    const derived = this.#deriveKey(wallet, nonce);
    const credential: Credential = {
      apiKey: apiKeyBytes(derived.apiKey),
      wallet: hexBytes(wallet),
      nonce,
      active: true,
      createdAtMs: this.#options.clock.nowMs(),
      revokedAtMs: 0,
    };
    await this.#options.append(derived.apiKey, credential);
    this.take(credential);
    return trioOf(derived);
  }

  #deriveKey(wallet: WalletAddress, nonce: string): DerivedKey {
    return deriveKey(this.#options.serverSecret, { wallet, nonce });
  }
}

/** Opens the keys on the log; resolves when all that were there are known. */
export async function openKeyStore(
  { client, names, codecs, records }: OpenLog,
  options: Omit<KeyStoreOptions, 'append'> & { readonly log: Log; onFault(fault: Fault): void },
): Promise<KeyStore> {
  const { log, onFault, serverSecret, clock, owners } = options;
  const topic = names.credentials;
  const codec = codecs.credentials;
  const keys = new KeyStore({
    ...{ serverSecret, clock, owners },
    async append(apiKey, credential) {
      const value = codec.encode(credential);
      await records.send([{ topic, partition: 0, key: Buffer.from(apiKey, 'utf8'), value }]);
    },
  });
  await followTable(client, {
    ...{ topic, codec, log, onFault },
    take: (credential) => keys.take(credential),
    forget: (key) => keys.forget(key),
  });
  return keys;
}
