import { AgentDirectory } from '@pm/domain/accounts/agent-directory';
import { KeyDirectory } from '@pm/domain/accounts/key-directory';
import { openKeyVerifier } from '@pm/domain/accounts/key-verifier';
import { oncePerRequest } from '@pm/domain/accounts/once-per-request';
import { ReadKeyDirectory } from '@pm/domain/accounts/read-key-directory';
import { openReaderVerifier } from '@pm/domain/accounts/reader-verifier';
import type { Clock } from '@pm/kit/clock';
import type { Fault } from '@pm/kit/fault';
import type { Log } from '@pm/kit/log';
import { openTable } from '../log/compacted-table.io.ts';
import type { LogOf } from '../log/topics.io.ts';
import { AgentStore } from './agents.io.ts';
import { KeyStore, keyFold } from './api-keys.io.ts';
import { NotificationMarkStore, NotificationMarks } from './notification-marks.io.ts';
import { ReadKeyStore } from './read-only-keys.io.ts';
import { openWalletOwners } from './wallet-bindings.io.ts';
import type { WalletOwners } from './wallet-owners.ts';
import { WalletStatusStore } from './wallet-status-store.io.ts';
import { WalletStatuses } from './wallet-statuses.ts';
import { WithdrawalFreezeStore } from './withdrawal-freeze-store.io.ts';
import { WithdrawalFreezes } from './withdrawal-freezes.ts';

/** Topics that say who may do what. */
export type AccountTopic =
  | 'credentials'
  | 'readKeys'
  | 'agents'
  | 'walletStatus'
  | 'walletOwners'
  | 'withdrawalFreezes'
  | 'notificationMarks';

export interface AccountsOptions {
  readonly serverSecret: Buffer;
  readonly freshnessMs: number;
  readonly clock: Clock;
  readonly owners: WalletOwners;
  readonly log: Log;
  onFault(fault: Fault): void;
}

/**
 * Keys, wallets, agents and what wallets may do, as the log says now: nobody comes in on half of them. A status that cannot
 * be read stops the process: it may be a ban.
 */
export async function openAccounts(topicLog: LogOf<AccountTopic>, options: AccountsOptions) {
  const { serverSecret, clock, owners, log, onFault, freshnessMs } = options;
  const { names, codecs } = topicLog;
  const follow = { log, onFault };
  const bindings = await openWalletOwners(topicLog, { ...follow, owners, clock });
  const directory = new KeyDirectory();
  const readDirectory = new ReadKeyDirectory();
  const agentDirectory = new AgentDirectory();
  const statuses = new WalletStatuses();
  const marks = new NotificationMarks();
  const freezes = new WithdrawalFreezes();
  const [credentials, readKeys, agents, walletStatus, marked, frozen] = await Promise.all([
    openTable(
      topicLog,
      { ...follow, topic: names.credentials, codec: codecs.credentials },
      keyFold(directory, owners),
    ),
    openTable(
      topicLog,
      { ...follow, topic: names.readKeys, codec: codecs.readKeys },
      readDirectory,
    ),
    openTable(topicLog, { ...follow, topic: names.agents, codec: codecs.agents }, agentDirectory),
    openTable(
      topicLog,
      {
        ...{ ...follow, topic: names.walletStatus, codec: codecs.walletStatus },
        unreadable: 'stop',
      },
      statuses,
    ),
    openTable(
      topicLog,
      { ...follow, topic: names.notificationMarks, codec: codecs.notificationMarks },
      marks,
    ),
    openTable(
      topicLog,
      {
        ...{ ...follow, topic: names.withdrawalFreezes, codec: codecs.withdrawalFreezes },
        unreadable: 'stop',
      },
      freezes,
    ),
  ]);
  const secrets = { serverSecret, clock };
  const proof = { keys: directory, serverSecret, freshnessMs, nowMs: () => clock.nowMs() };
  const verify = oncePerRequest(openKeyVerifier(proof));
  return {
    owners,
    /** Where the operator binds wallets. */
    bindings,
    /** What the public door asks. */
    door: {
      owners,
      keys: new KeyStore({ ...secrets, directory, table: credentials }),
      readKeys: new ReadKeyStore({ ...secrets, directory: readDirectory, table: readKeys }),
      agents: new AgentStore({ clock, directory: agentDirectory, table: agents }),
      agentDirectory,
      notificationMarks: new NotificationMarkStore({ clock, marks, table: marked }),
      freezes: new WithdrawalFreezeStore({ clock, freezes, table: frozen }),
      walletStatus: new WalletStatusStore({ clock, statuses, table: walletStatus }),
      verify,
      verifyBuilder: openKeyVerifier({ ...proof, kind: 'BUILDER' }),
      verifyReader: openReaderVerifier(verify, readDirectory),
    },
  };
}
