import type { Clock } from '@pm/kit/clock';
import { followTable } from '@pm/kit/compacted';
import type { Fault } from '@pm/kit/fault';
import type { Log } from '@pm/kit/log';
import { hexBytes, type Profile, type WalletAddress, walletFromBytes } from '@pm/schemas';
import type { ProfileForm } from '../core/profile-form.ts';
import type { OpenLog } from './log-store.ts';

export interface ProfileStoreOptions {
  readonly clock: Pick<Clock, 'nowMs'>;
  /** Resolves when the record is durable. Rejects with a `Fault`. */
  append(wallet: WalletAddress, profile: Profile): Promise<void>;
}

/** When each profile was first set; the rest of a profile is written anew each time. */
export class ProfileStore {
  readonly #options: ProfileStoreOptions;
  readonly #createdAtMs = new Map<WalletAddress, number>();

  constructor(options: ProfileStoreOptions) {
    this.#options = options;
  }

  take({ wallet, createdAtMs }: Profile): void {
    this.#createdAtMs.set(walletFromBytes(wallet), createdAtMs);
  }

  async put(wallet: WalletAddress, form: ProfileForm): Promise<Profile> {
    const updatedAtMs = this.#options.clock.nowMs();
    const createdAtMs = this.#createdAtMs.get(wallet) ?? updatedAtMs;
    const profile: Profile = { wallet: hexBytes(wallet), ...form, createdAtMs, updatedAtMs };
    await this.#options.append(wallet, profile);
    this.take(profile);
    return profile;
  }
}

/** Opens the profiles on the log; resolves when all that were there are known. */
export async function openProfiles(
  { client, names, codecs, records }: OpenLog,
  options: Pick<ProfileStoreOptions, 'clock'> & {
    readonly log: Log;
    onFault(fault: Fault): void;
  },
): Promise<ProfileStore> {
  const { log, onFault, clock } = options;
  const { profiles: topic } = names;
  const { profiles: codec } = codecs;
  const store = new ProfileStore({
    clock,
    async append(wallet, profile) {
      const key = Buffer.from(wallet, 'utf8');
      await records.send([{ topic, partition: 0, key, value: codec.encode(profile) }]);
    },
  });
  await followTable(client, {
    ...{ topic, codec, log, onFault },
    take: (profile) => store.take(profile),
  });
  return store;
}
