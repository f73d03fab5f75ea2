import {
  type CompactedTable,
  openTable,
  type TableFold,
} from '@pm/domain/commands/compacted-table.io';
import { KeyedMutex } from '@pm/domain/commands/keyed-mutex.io';
import type { TopicsOf } from '@pm/domain/commands/topics.io';
import type { Clock } from '@pm/kit/clock';
import { Fault } from '@pm/kit/fault';
import type { Log } from '@pm/kit/log';
import { hexBytes, type WalletAddress, walletFromBytes } from '@pm/schemas/ids';
import { type Profile, profilesHeldMax } from '@pm/schemas/log/profiles';
import { freeEntries } from '@pm/schemas/redis/held-entries';
import type { EntryQuota } from '../accounts/entry-quota.io.ts';
import type { ProfileForm } from './profile-form.ts';

/**
 * The time at which each profile was first set: the only field of a profile that a change keeps. As many as readers
 * keep (`profilesHeldMax`): a profile that no reader would show is refused.
 */
export class ProfileCreationTimes implements TableFold<Profile> {
  readonly #createdAtMs = new Map<WalletAddress, number>();
  readonly #max: number;

  constructor(max = profilesHeldMax) {
    this.#max = max;
  }

  apply({ wallet, createdAtMs }: Profile): void {
    const address = walletFromBytes(wallet);
    if (this.hasRoomFor(address)) this.#createdAtMs.set(address, createdAtMs);
  }

  get size(): number {
    return this.#createdAtMs.size;
  }

  hasRoomFor(wallet: WalletAddress): boolean {
    return this.#createdAtMs.has(wallet) || this.#createdAtMs.size < this.#max;
  }

  /** Unix milliseconds; undefined when the wallet has no profile. */
  of(wallet: WalletAddress): number | undefined {
    return this.#createdAtMs.get(wallet);
  }
}

export interface ProfilesOptions {
  readonly clock: Pick<Clock, 'nowMs'>;
  readonly creationTimes: ProfileCreationTimes;
  /** The topic `profiles`, folded into the creationTimes. */
  readonly table: Pick<CompactedTable<Profile>, 'write'>;
  readonly entryQuota: Pick<EntryQuota, 'admits'>;
}

/** Profiles as their owners set them. */
export class Profiles {
  readonly #options: ProfilesOptions;
  readonly #mutex = new KeyedMutex();

  constructor(options: ProfilesOptions) {
    this.#options = options;
  }

  /**
   * Resolves when it is durable; with null when there is no room for a wallet without money. Rejects with a `Fault`:
   * `overloaded` (retry) when the exchange has as many as it keeps.
   */
  async put(wallet: WalletAddress, form: ProfileForm): Promise<Profile | null> {
    const { clock, creationTimes, table, entryQuota } = this.#options;
    return await this.#mutex.run(wallet, async () => {
      if (!creationTimes.hasRoomFor(wallet)) throw new Fault('overloaded', 'retry');
      const held = { entries: creationTimes.size, free: freeEntries.profiles };
      const isNew = creationTimes.of(wallet) === undefined;
      if (isNew && !(await entryQuota.admits(held, wallet))) return null;
      const updatedAtMs = clock.nowMs();
      const createdAtMs = creationTimes.of(wallet) ?? updatedAtMs;
      const profile: Profile = { wallet: hexBytes(wallet), ...form, createdAtMs, updatedAtMs };
      await table.write([{ key: wallet, value: profile }]);
      return profile;
    });
  }
}

/** Opens the profiles on the log; resolves when all that were there are known. */
export async function openProfiles(
  topicLog: TopicsOf<'profiles'>,
  options: Pick<ProfilesOptions, 'entryQuota'> & {
    readonly clock: Clock;
    readonly log: Log;
    onFault(fault: Fault): void;
  },
): Promise<Profiles> {
  const { clock, log, onFault, entryQuota } = options;
  const { names, codecs } = topicLog;
  const creationTimes = new ProfileCreationTimes();
  const topic = { topic: names.profiles, codec: codecs.profiles, log, onFault };
  return new Profiles({
    clock,
    creationTimes,
    entryQuota,
    table: await openTable(topicLog, topic, creationTimes),
  });
}
