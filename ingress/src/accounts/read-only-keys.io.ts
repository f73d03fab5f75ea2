import { deriveReadKey, type KeySecrets } from '@pm/domain/accounts/derive-keys';
import { hashOfKey } from '@pm/domain/accounts/key-hash';
import type { ListedReadKey, ReadKeyDirectory } from '@pm/domain/accounts/read-key-directory';
import { readKeyWallet } from '@pm/domain/accounts/reader-verifier';
import type { CompactedTable } from '@pm/domain/commands/compacted-table.io';
import { KeyedMutex } from '@pm/domain/commands/keyed-mutex.io';
import type { Clock } from '@pm/kit/clock';
import { type ApiKeyId, hexBytes, type WalletAddress } from '@pm/schemas/ids';
import type { ReadKey } from '@pm/schemas/log/accounts';
import { freeEntries } from '@pm/schemas/redis/held-entries';
import { headers } from '@pm/schemas/signing';
import { brokenKeyLimit } from './api-keys.io.ts';
import type { BrokenLimit, EntryQuota } from './entry-quota.io.ts';

export interface ReadOnlyKeysOptions {
  readonly secrets: KeySecrets;
  readonly clock: Clock;
  readonly directory: ReadKeyDirectory;
  /** The topic `read-keys`, folded into the directory. */
  readonly table: Pick<CompactedTable<ReadKey>, 'write'>;
  readonly entryQuota: Pick<EntryQuota, 'admits'>;
}

/** Gives read-only keys out and takes them back; what is stored of a key is its SHA-256 (conventions.md 2.5). */
export class ReadOnlyKeys {
  readonly #options: ReadOnlyKeysOptions;
  /** By wallet: its keys are counted, and one more written. */
  readonly #mutex = new KeyedMutex();

  constructor(options: ReadOnlyKeysOptions) {
    this.#options = options;
  }

  /** One more key, or the limit that it would break. Resolves when it is durable; throws a `Fault`. */
  create(wallet: WalletAddress): Promise<ApiKeyId | BrokenLimit> {
    return this.#mutex.run(wallet, async () => {
      const keys = this.#options.directory.listOf(wallet);
      const max = brokenKeyLimit(keys);
      if (max !== null) return { max };
      const held = { entries: this.#options.directory.size, free: freeEntries.readOnlyKeys };
      if (!(await this.#options.entryQuota.admits(held, wallet))) return { max: null };
      // Numbers are never given twice, so no deleted key comes back.
      const number = (keys.at(-1)?.number ?? -1) + 1;
      const createdAtMs = this.#options.clock.nowMs();
      const key = deriveReadKey(this.#options.secrets.present, { wallet, number });
      const facts = { wallet, number, createdAtMs, revokedAtMs: 0 };
      await this.#write({ ...facts, keyHash: hashOfKey(key), active: true });
      return key;
    });
  }

  /** The keys themselves, derived again; deleted ones are left out. */
  list(wallet: WalletAddress): readonly ApiKeyId[] {
    const active = this.#options.directory.listOf(wallet).filter((key) => key.active);
    return active.flatMap((key) => this.#derive(key) ?? []);
  }

  /** Whether the key is the wallet's; it opens nothing from here on. */
  delete(wallet: WalletAddress, key: ApiKeyId): Promise<boolean> {
    return this.#mutex.run(wallet, async () => {
      const known = this.#options.directory.find(key);
      if (known === undefined || known.wallet !== wallet) return false;
      const revokedAtMs = this.#options.clock.nowMs();
      if (known.active) await this.#write({ ...known, active: false, revokedAtMs });
      return true;
    });
  }

  /** Whether the key opens the wallet's reads. */
  isValid(address: string, key: string): boolean {
    const shown = {
      [headers.address.toLowerCase()]: address,
      [headers.readOnlyKey.toLowerCase()]: key,
    };
    return readKeyWallet(shown, this.#options.directory) !== null;
  }

  async #write(key: ListedReadKey): Promise<void> {
    const { wallet, number } = key;
    const value = { ...key, wallet: hexBytes(wallet) };
    await this.#options.table.write([{ key: `${wallet}:${number}`, value }]);
  }

  /** The key as one of the secrets derives it; null when none does. */
  #derive({ wallet, number, keyHash }: ListedReadKey): ApiKeyId | null {
    const { present, others } = this.#options.secrets;
    const all = [present, ...others].map((secret) => deriveReadKey(secret, { wallet, number }));
    return all.find((key) => hashOfKey(key).equals(keyHash)) ?? null;
  }
}
