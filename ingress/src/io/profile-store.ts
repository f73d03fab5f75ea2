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
import type { ProfileForm } from '../core/profile-form.ts';
import type { LogOf } from './log-store.ts';
import { openTable, type TableFold, type TableStore } from './table-store.ts';
import { Turns } from './turn-store.ts';

/**
 * When each profile was first set: all of a profile that is not written anew each time. As many as readers keep
 * (`profilesHeldMax`): what nobody would be shown is not taken either.
 */
export class ProfileBirths implements TableFold<Profile> {
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

export interface ProfileStoreOptions {
  readonly clock: Pick<Clock, 'nowMs'>;
  readonly births: ProfileBirths;
  /** The topic `profiles`, folded into the births. */
  readonly table: Pick<TableStore<Profile>, 'write'>;
}

/** Profiles as their owners set them. */
export class ProfileStore {
  readonly #options: ProfileStoreOptions;
  readonly #turns = new Turns();

  constructor(options: ProfileStoreOptions) {
    this.#options = options;
  }

  /** Resolves when it is durable. Rejects with a `Fault`: `overloaded` (retry) when the exchange has as many as it keeps. */
  async put(wallet: WalletAddress, form: ProfileForm): Promise<Profile> {
    const { clock, births, table } = this.#options;
    return await this.#turns.run(wallet, async () => {
      if (!births.hasRoomFor(wallet)) throw new Fault('overloaded', 'retry');
      const updatedAtMs = clock.nowMs();
      const createdAtMs = births.of(wallet) ?? updatedAtMs;
      const profile: Profile = { wallet: hexBytes(wallet), ...form, createdAtMs, updatedAtMs };
      await table.write([{ key: wallet, value: profile }]);
      return profile;
    });
  }
}

/** Opens the profiles on the log; resolves when all that were there are known. */
export async function openProfiles(
  topicLog: LogOf<'profiles'>,
  options: { readonly clock: Clock; readonly log: Log; onFault(fault: Fault): void },
): Promise<ProfileStore> {
  const { clock, log, onFault } = options;
  const { names, codecs } = topicLog;
  const births = new ProfileBirths();
  const topic = { topic: names.profiles, codec: codecs.profiles, log, onFault };
  return new ProfileStore({ clock, births, table: await openTable(topicLog, topic, births) });
}
