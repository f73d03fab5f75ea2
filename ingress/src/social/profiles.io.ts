import type { Clock } from '@pm/kit/clock';
import { Fault } from '@pm/kit/fault';
import type { Log } from '@pm/kit/log';
import {
  hexBytes,
  type Profile,
  profilesHeldMax,
  type WalletAddress,
  walletFromBytes,
} from '@pm/schemas';
import { type CompactedTable, openTable, type TableFold } from '../log/compacted-table.io.ts';
import { KeyedMutex } from '../log/keyed-mutex.io.ts';
import type { TopicsOf } from '../log/topics.io.ts';
import type { ProfileForm } from './profile-form.ts';

/**
 * The time at which each profile was first set: the only field of a profile that a change keeps. As many as readers keep
 * (`profilesHeldMax`): a profile that no reader would show is refused.
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
}

/** Profiles as their owners set them. */
export class Profiles {
  readonly #options: ProfilesOptions;
  readonly #mutex = new KeyedMutex();

  constructor(options: ProfilesOptions) {
    this.#options = options;
  }

  /** Resolves when it is durable. Rejects with a `Fault`: `overloaded` (retry) when the exchange has as many as it keeps. */
  async put(wallet: WalletAddress, form: ProfileForm): Promise<Profile> {
    const { clock, creationTimes, table } = this.#options;
    return await this.#mutex.run(wallet, async () => {
      if (!creationTimes.hasRoomFor(wallet)) throw new Fault('overloaded', 'retry');
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
  options: { readonly clock: Clock; readonly log: Log; onFault(fault: Fault): void },
): Promise<Profiles> {
  const { clock, log, onFault } = options;
  const { names, codecs } = topicLog;
  const creationTimes = new ProfileCreationTimes();
  const topic = { topic: names.profiles, codec: codecs.profiles, log, onFault };
  return new Profiles({
    clock,
    creationTimes,
    table: await openTable(topicLog, topic, creationTimes),
  });
}
