import { openTable } from '@pm/domain/commands/compacted-table.io';
import type { TopicsOf } from '@pm/domain/commands/topics.io';
import type { WalletOwners } from '@pm/domain/wallets/wallet-owners';
import { type StatusFacts, WalletStatuses } from '@pm/domain/wallets/wallet-statuses.io';
import { WalletRows, WalletWriter } from '@pm/domain/wallets/wallet-table.io';
import { type FreezeFacts, WithdrawalFreezes } from '@pm/domain/wallets/withdrawal-freezes.io';
import type { Clock } from '@pm/kit/clock';
import { followTable } from '@pm/kit/compacted';
import type { Fault } from '@pm/kit/fault';
import type { Log } from '@pm/kit/log';
import { walletFromBytes } from '@pm/schemas/ids';
import { openWalletBindings } from './wallet-bindings.io.ts';

/** Topics that say what wallets may do and whose they are. */
export type WalletTopic = 'credentials' | 'walletOwners' | 'walletStatus' | 'withdrawalFreezes';

export interface WalletsOptions {
  /** Filled with what the log proves. */
  readonly owners: WalletOwners;
  readonly clock: Clock;
  readonly log: Log;
  onFault(fault: Fault): void;
}

/** Opens owners, statuses and freezes of wallets for reading and writing; resolves when all tables are loaded. */
export async function openWallets(topics: TopicsOf<WalletTopic>, options: WalletsOptions) {
  const { owners, clock, log, onFault } = options;
  const { names, codecs } = topics;
  const follow = { log, onFault };
  const stop = { ...follow, unreadable: 'stop' } as const;
  const statuses = new WalletRows<StatusFacts>();
  const frozen = new WalletRows<FreezeFacts>();
  const [bindings, statusTable, freezeTable] = await Promise.all([
    openWalletBindings(topics, { ...follow, owners, clock }),
    openTable(topics, { ...stop, topic: names.walletStatus, codec: codecs.walletStatus }, statuses),
    openTable(
      topics,
      { ...stop, topic: names.withdrawalFreezes, codec: codecs.withdrawalFreezes },
      frozen,
    ),
    // Every wallet on it was proven by making a key for it.
    followTable(topics.client, {
      ...follow,
      topic: names.credentials,
      codec: codecs.credentials,
      take: ({ wallet }) => owners.prove(walletFromBytes(wallet)),
    }),
  ]);
  const freezes = new WithdrawalFreezes(frozen);
  return {
    bindings,
    freezes,
    walletStatus: new WalletStatuses(statuses, freezes),
    write: {
      status: new WalletWriter<StatusFacts>({ clock, table: statusTable }),
      freeze: new WalletWriter<FreezeFacts>({ clock, table: freezeTable }),
    },
  };
}
