import { AgentDirectory } from '@pm/domain/accounts/agent-directory';
import type { Freshness } from '@pm/domain/accounts/auth-headers';
import type { KeySecrets } from '@pm/domain/accounts/derive-keys';
import { oncePerRequest } from '@pm/domain/accounts/key-credentials';
import { KeyDirectory } from '@pm/domain/accounts/key-directory';
import { openKeyVerifier } from '@pm/domain/accounts/key-verifier';
import { openNewKeys } from '@pm/domain/accounts/new-keys.io';
import { ReadKeyDirectory } from '@pm/domain/accounts/read-key-directory';
import { openReaderVerifier } from '@pm/domain/accounts/reader-verifier';
import { openTable } from '@pm/domain/commands/compacted-table.io';
import type { TopicsOf } from '@pm/domain/commands/topics.io';
import { boundWalletOf, type WalletOwners } from '@pm/domain/wallets/wallet-owners';
import { type StatusFacts, WalletStatuses } from '@pm/domain/wallets/wallet-statuses.io';
import { WalletRows } from '@pm/domain/wallets/wallet-table.io';
import { type FreezeFacts, WithdrawalFreezes } from '@pm/domain/wallets/withdrawal-freezes.io';
import type { Clock } from '@pm/kit/clock';
import { followTable } from '@pm/kit/compacted';
import type { Fault } from '@pm/kit/fault';
import type { FollowedTopic, LogReader } from '@pm/kit/kafka';
import type { Log } from '@pm/kit/log';
import type { ApiKeyId } from '@pm/schemas/ids';
import { Agents } from './agents.io.ts';
import { ApiKeys, keyFold } from './api-keys.io.ts';
import type { EntryQuota } from './entry-quota.io.ts';
import { DeletedNotifications, NotificationMarks } from './notification-marks.io.ts';
import { ReadOnlyKeys } from './read-only-keys.io.ts';

/** Topics of keys, agents and wallets. */
export type AccountTopic =
  | 'credentials'
  | 'readKeys'
  | 'agents'
  | 'walletStatus'
  | 'walletOwners'
  | 'withdrawalFreezes'
  | 'notificationMarks';

export interface AccountsOptions {
  readonly secrets: KeySecrets;
  readonly freshness: Freshness;
  readonly clock: Clock;
  readonly owners: WalletOwners;
  readonly entryQuota: Pick<EntryQuota, 'admits'>;
  readonly log: Log;
  onFault(fault: Fault): void;
}

/**
 * Opens keys, wallets, agents and the limits of wallets on the log. No request is authenticated before all tables are
 * loaded. A status that cannot be read stops the process: it may be a ban. Owners, statuses and freezes are read alone.
 */
export async function openAccounts(topicLog: TopicsOf<AccountTopic>, options: AccountsOptions) {
  const { secrets, clock, owners, entryQuota, log, onFault, freshness } = options;
  const { names, codecs } = topicLog;
  const follow = { log, onFault };
  const wallets = await followWallets(topicLog, options);
  const directory = new KeyDirectory();
  // Nothing is written before the table is loaded.
  let revokeAgain: (apiKey: ApiKeyId) => void = () => {};
  const readDirectory = new ReadKeyDirectory();
  const agentDirectory = new AgentDirectory();
  const marks = new DeletedNotifications();
  const keyTopics: FollowedTopic[] = [];
  const ofKeys = (topic: string) => ({
    ...follow,
    topic,
    onReader: (reader: LogReader) => keyTopics.push({ topic, reader }),
  });
  const [credentials, readKeys, agents, marked] = await Promise.all([
    openTable(
      topicLog,
      { ...ofKeys(names.credentials), codec: codecs.credentials },
      keyFold(directory, owners, (apiKey) => revokeAgain(apiKey)),
    ),
    openTable(topicLog, { ...ofKeys(names.readKeys), codec: codecs.readKeys }, readDirectory),
    openTable(topicLog, { ...ofKeys(names.agents), codec: codecs.agents }, agentDirectory),
    openTable(
      topicLog,
      { ...follow, topic: names.notificationMarks, codec: codecs.notificationMarks },
      marks,
    ),
  ]);
  const making = { clock, entryQuota };
  const reading = { directory: readDirectory, table: readKeys };
  const keys = new ApiKeys({ ...making, secrets, directory, table: credentials });
  revokeAgain = (apiKey) => {
    keys
      .revokeAgain(apiKey)
      .catch((err: unknown) => log.warn({ err }, 'a key was not revoked again'));
  };
  const proof = { keys: directory, secrets, freshness, nowMs: () => clock.nowMs() };
  const verify = oncePerRequest(openKeyVerifier(proof));
  return {
    owners,
    keyDirectory: directory,
    keys,
    newKeys: await openNewKeys(
      topicLog.client,
      { keys: directory, readKeys: readDirectory, agents: agentDirectory },
      keyTopics,
    ),
    readOnlyKeys: new ReadOnlyKeys({ ...making, ...reading, secrets }),
    agents: new Agents({ ...making, directory: agentDirectory, table: agents }),
    agentDirectory,
    keyTopics,
    notificationMarks: new NotificationMarks({ ...making, marks, table: marked }),
    ...wallets,
    verify,
    verifyBuilder: openKeyVerifier({ ...proof, kind: 'BUILDER' }),
    verifyReader: openReaderVerifier(verify, readDirectory),
  };
}

/**
 * Follows the topics with the facts about wallets from operators and the solvency check; this process writes none of
 * them.
 */
async function followWallets(
  { client, names, codecs }: TopicsOf<AccountTopic>,
  { owners, log, onFault }: AccountsOptions,
) {
  const follow = { log, onFault, unreadable: 'stop' } as const;
  const statuses = new WalletRows<StatusFacts>();
  const frozen = new WalletRows<FreezeFacts>();
  await Promise.all([
    followTable(client, {
      ...follow,
      topic: names.walletOwners,
      codec: codecs.walletOwners,
      take: (record) => owners.bind(boundWalletOf(record)),
    }),
    followTable(client, {
      ...follow,
      topic: names.walletStatus,
      codec: codecs.walletStatus,
      take: (status) => statuses.apply(status),
    }),
    followTable(client, {
      ...follow,
      topic: names.withdrawalFreezes,
      codec: codecs.withdrawalFreezes,
      take: (freeze) => frozen.apply(freeze),
    }),
  ]);
  const freezes = new WithdrawalFreezes(frozen);
  return { freezes, walletStatus: new WalletStatuses(statuses, freezes) };
}
