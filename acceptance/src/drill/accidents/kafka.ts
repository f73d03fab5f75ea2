import { renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { topics } from '@pm/schemas/log/topics';
import { type Admin, Kafka, logLevel } from 'kafkajs';
import type { Accident } from '../accident.ts';
import type { DrilledExchange } from '../drilled-exchange.ts';

const part = 'engines/kafka';
/** Where a drill keeps the log of the exchange while another one is in its place. */
const keptPart = 'kafka.kept';
/** Services with consumer groups. */
const members = ['matcher', 'projectors'];
/** `ConfigResourceTypes.TOPIC`, which is not an export that ES modules see. */
const topicResource = 2;
/** Apicurio is a member of a group of its own, and goes on. */
const ofRegistry = 'apicurio-';
/** Behind every end of the log. */
const beyond = '1000000000';

async function atCluster<T>(
  { stack }: DrilledExchange,
  work: (admin: Admin) => Promise<T>,
): Promise<T> {
  const brokers = stack.urls.kafka.split(',');
  const admin = new Kafka({ brokers, clientId: 'drill', logLevel: logLevel.NOTHING }).admin();
  await admin.connect();
  try {
    return await work(admin);
  } finally {
    await admin.disconnect();
  }
}

async function groupsOf(admin: Admin): Promise<readonly string[]> {
  const { groups } = await admin.listGroups();
  return groups.map(({ groupId }) => groupId).filter((groupId) => !groupId.startsWith(ofRegistry));
}

const withoutMembers = (work: (admin: Admin) => Promise<void>) => ({
  wayBack: null,
  carryOut: (exchange: DrilledExchange) =>
    exchange.without(members, () => atCluster(exchange, work)),
});

/** Sets all offsets of all groups to one place. */
async function setOffsets(admin: Admin, offset: string): Promise<void> {
  for (const groupId of await groupsOf(admin))
    for (const { topic, partitions } of await admin.fetchOffsets({ groupId }))
      await admin.setOffsets({
        groupId,
        topic,
        partitions: partitions.map(({ partition }) => ({ partition, offset })),
      });
}

const offsetAccidents: readonly Accident[] = [
  {
    state: 'offsets of groups',
    done: 'lost',
    says: null,
    ...withoutMembers(async (admin) => {
      await admin.deleteGroups([...(await groupsOf(admin))]);
    }),
  },
  {
    state: 'offsets of groups',
    done: 'set to the first record',
    says: null,
    ...withoutMembers((admin) => setOffsets(admin, '0')),
  },
  {
    state: 'offsets of groups',
    done: 'set beyond the end',
    says: null,
    ...withoutMembers((admin) => setOffsets(admin, beyond)),
  },
];

async function configure(
  exchange: DrilledExchange,
  topic: string,
  entry: { readonly name: string; readonly value: string },
): Promise<void> {
  await atCluster(exchange, async (admin) => {
    const resource = { type: topicResource, name: topic };
    const [found] = (await admin.describeConfigs({ resources: [resource], includeSynonyms: false }))
      .resources;
    const kept = (found?.configEntries ?? [])
      .filter(({ isDefault, configName }) => !isDefault && configName !== entry.name)
      .map(({ configName, configValue }) => ({ name: configName, value: configValue }));
    await admin.alterConfigs({
      validateOnly: false,
      resources: [{ ...resource, configEntries: [...kept, entry] }],
    });
  });
}

/** A setting that is wrong for as long as until it is seen. */
function setting(topic: string, name: string, [wrong, right]: readonly [string, string]) {
  return {
    state: 'settings of topics',
    done: `\`${name}\` of \`${topic}\` set to ${wrong}`,
    wayBack: `set it to ${right}`,
    carryOut: (exchange: DrilledExchange) => configure(exchange, topic, { name, value: wrong }),
    bringBack: (exchange: DrilledExchange) => configure(exchange, topic, { name, value: right }),
  };
}

const inSync = 'min.insync.replicas';

const settingAccidents: readonly Accident[] = [
  {
    ...setting(topics.executions.name, 'max.message.bytes', ['100', '16777216']),
    says: 'MESSAGE_TOO_LARGE',
  },
  // Without effect while it runs: a broker asks for no more copies than there are.
  {
    state: 'settings of topics',
    done: `\`${inSync}\` of \`executions\` set to 2, before a start`,
    says: `${inSync} was 2`,
    wayBack: null,
    carryOut: async (exchange) => {
      await configure(exchange, topics.executions.name, { name: inSync, value: '2' });
      await exchange.restart();
    },
  },
];

/** Data of engines that is folded from the log. */
const foldedParts = ['engines/redis', 'engines/clickhouse', 'engines/clickhouse-rows'];

const own = ({ folders }: DrilledExchange) => join(folders.data, part);
const kept = ({ folders }: DrilledExchange) => join(folders.data, keptPart);

/** Puts the right disk back, and starts. */
const putBack = (exchange: DrilledExchange) =>
  exchange.restart(() => {
    rmSync(own(exchange), { recursive: true });
    renameSync(kept(exchange), own(exchange));
  });

const logAccidents: readonly Accident[] = [
  {
    state: 'Kafka',
    done: 'of another installation',
    says: 'was opened with the key',
    wayBack: 'the right disk, then `npm start`',
    carryOut: (exchange) =>
      exchange.restart(() => {
        renameSync(own(exchange), kept(exchange));
        exchange.replace([part], exchange.folders.other);
      }),
    bringBack: putBack,
  },
  {
    state: 'Kafka',
    done: 'empty',
    says: 'the log is older than the tables',
    wayBack: 'the right disk, then `npm start`',
    carryOut: (exchange) => exchange.restart(() => renameSync(own(exchange), kept(exchange))),
    bringBack: putBack,
  },
];

/** Comes last: what was booked since is gone, and the log goes on without it. */
const restoredLog: Accident = {
  state: 'Kafka',
  done: 'restored from an older copy of its disk',
  says: 'the log is older than the tables',
  wayBack: 'empty Redis and ClickHouse, then `npm start`: [An older log](#an-older-log)',
  carryOut: (exchange) => exchange.restart(() => exchange.replace([part], exchange.folders.older)),
  bringBack: (exchange) => exchange.restart(() => exchange.replace(foldedParts, null)),
};

export const kafkaAccidents: readonly Accident[] = [
  ...offsetAccidents,
  ...settingAccidents,
  ...logAccidents,
];
export const lastAccidents: readonly Accident[] = [restoredLog];
