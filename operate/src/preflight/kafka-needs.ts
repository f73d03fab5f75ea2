import { readOpenings } from '@pm/deploy/installation/fee-wallet';
import { existingKeys } from '@pm/deploy/installation/identity';
import { StackError } from '@pm/deploy/local/stack-error';
import { failoverSettings, sessionSettings } from '@pm/deploy/setup/broker-settings';
import { refuseOther, topicSpecs } from '@pm/deploy/setup/exchange-setup';
import { readKept } from '@pm/deploy/setup/service-keys';
import { noKeptOpenings } from '@pm/domain/signoff/first-envelope.io';
import { kafkaConnection } from '@pm/kit/config';
import { configOf, openLogClient, type TopicSpec, topicSettings } from '@pm/kit/kafka';
import { silentLog } from '@pm/kit/log';
import { topics } from '@pm/schemas/log/topics';
import { declaredAccess } from '../access/declared.ts';
import { kafkaRightsOf, principalOf } from '../access/kafka-acls.ts';
import {
  judgeCopies,
  judgeCreations,
  judgeExisting,
  judgeFailover,
  judgeIdempotence,
  judgeInstallation,
  judgeRequestSize,
  judgeRequests,
  judgeRights,
  judgeSetting,
  requestSizeName,
} from './kafka-judges.ts';
import { type Need, need, once } from './need.ts';
import type { PreflightOptions } from './options.ts';

/** Number of the request in the protocol of Kafka. */
const createTopics = 19;

/** The brokers, as needs are asked of them. */
export type KafkaEngine = Awaited<ReturnType<typeof openKafka>>;

/** Connects and signs in. */
export async function openKafka(options: PreflightOptions) {
  const { addresses, copies } = options;
  const { hiddenSettings: hidden = [], ...connection } = kafkaConnection(addresses);
  const client = openLogClient({ ...connection, clientId: 'preflight', log: silentLog });
  try {
    const admin = await client.admin();
    const specs = topicSpecs({ ...options, replicationFactor: copies }, addresses.topicPrefix);
    const differences = once(() => admin.differences(specs));
    const missing = once(async () => {
      const existing = await differences();
      return specs.filter(({ name }) => !existing.has(name));
    });
    const survey = once(() => admin.survey());
    return {
      options,
      admin,
      client,
      hidden,
      specs,
      differences,
      missing,
      shown: once(() => admin.shownSettings()),
      survey,
      /** See `LogAdmin.refusedCreations`. Older brokers would create what is only tried. */
      refusedCreations: async (topics: readonly TopicSpec[], settings: readonly string[]) => {
        const { requests } = await survey();
        if ((requests.get(createTopics) ?? 0) < 1) throw new Error('a creation cannot be tried');
        return await admin.refusedCreations(topics, settings);
      },
      brokers: once(() =>
        admin.brokerSettings([
          ...Object.keys({ ...failoverSettings, ...sessionSettings }),
          requestSizeName,
        ]),
      ),
      close: () => client.close(),
    };
  } catch (error) {
    await client.close();
    throw error;
  }
}

/** Everything that is needed of the brokers. */
export const kafkaNeeds: readonly Need<KafkaEngine>[] = [
  need({
    name: 'requests',
    page: 'kafka.md',
    ask: ({ survey }) => survey(),
    judge: judgeRequests,
  }),
  need({
    name: 'idempotent writes',
    page: 'kafka.md',
    ask: ({ survey }) => survey(),
    judge: judgeIdempotence,
  }),
  need({
    name: 'brokers for the copies',
    page: 'kafka.md',
    ask: async ({ survey, options: { copies } }) => ({ ...(await survey()), copies }),
    judge: judgeCopies,
  }),
  need({
    name: 'topics that exist',
    page: 'kafka.md',
    ask: async ({ differences, hidden }) => ({ differences: await differences(), hidden }),
    judge: judgeExisting,
  }),
  need({
    name: 'topics to be made',
    page: 'kafka.md',
    ask: async ({ refusedCreations, missing, hidden }) => {
      const wanted = await missing();
      const shown = topicSettings.filter((name) => !hidden.includes(name));
      return { missing: wanted.length, refused: await refusedCreations(wanted, shown) };
    },
    judge: judgeCreations,
  }),
  ...topicSettings.map((setting) =>
    need({
      name: `topic setting ${setting}`,
      page: 'kafka.md',
      ask: (engine: KafkaEngine) => readSetting(engine, setting),
      judge: judgeSetting,
    }),
  ),
  need({
    name: 'size of requests',
    page: 'kafka.md',
    ask: async ({ brokers }) => ({
      settings: await brokers(),
      recordBytes: topics.executions.maxMessageBytes,
    }),
    judge: judgeRequestSize,
  }),
  need({
    name: 'replacing a lost broker',
    page: 'kafka.md',
    ask: ({ brokers }) => brokers(),
    judge: judgeFailover,
  }),
  need({
    name: 'log of this installation',
    page: 'recovery.md',
    ask: readInstallation,
    judge: judgeInstallation,
  }),
  ...declaredAccess.map((access) =>
    need({
      name: `rights of ${access.name}`,
      page: 'security.md',
      ask: async ({ survey, options: { addresses } }: KafkaEngine) => ({
        principal: principalOf(access),
        rights: kafkaRightsOf(access, addresses.topicPrefix),
        acls: (await survey()).acls,
      }),
      judge: judgeRights,
    }),
  ),
];

/** A topic of the exchange that has the setting says best whether it is shown. */
async function readSetting(engine: KafkaEngine, setting: string) {
  const { refusedCreations, differences, missing, hidden, shown, specs } = engine;
  const existing = await differences();
  const hasIt = (spec: TopicSpec) => existing.has(spec.name) && setting in configOf(spec);
  return {
    setting,
    hidden,
    shown: specs.some(hasIt) ? [setting] : await shown(),
    refused: await refusedCreations(probesOf(await missing()), [setting]),
    differences: [...existing.values()].flat(),
  };
}

/** One missing topic for each set of values: together they have every value of every setting. */
function probesOf(missing: readonly TopicSpec[]): readonly TopicSpec[] {
  const kinds = new Map(
    missing.map((spec) => {
      const { compacted, maxMessageBytes, compactAfterMs } = spec;
      return [[compacted, maxMessageBytes, compactAfterMs].join(), spec];
    }),
  );
  return [...kinds.values()];
}

/** By the checks that set-up makes before it changes anything. */
async function readInstallation({ client, options }: KafkaEngine) {
  const { addresses, keysFile, feeWallet } = options;
  const place = { client, topicPrefix: addresses.topicPrefix };
  const openings = await readOpenings(place);
  try {
    const keys = await existingKeys(keysFile, async () => openings);
    const kept = keys === null ? noKeptOpenings : await readKept({ ...place, keys });
    if (keys !== null) refuseOther(await readOpenings(place, { kept }), { keys, feeWallet });
    return { opened: openings.size, foreign: null };
  } catch (error) {
    if (!(error instanceof StackError)) throw error;
    return { opened: openings.size, foreign: error.message };
  }
}
