import { systemClock } from '@pm/kit/clock';
import type { kafkaConnection } from '@pm/kit/config';
import { kafkaProbe } from '@pm/kit/engines';
import type { Fault } from '@pm/kit/fault';
import { type LogClient, type LogProducer, openWatchedLog, type WatchedLog } from '@pm/kit/kafka';
import type { EngineProbe } from '@pm/kit/lifecycle';
import type { Log } from '@pm/kit/log';
import type { Metrics } from '@pm/kit/metrics';
import { type RecordCodec, Schemas, topicName } from '@pm/kit/registry';
import type { Infer } from '@pm/schemas/avro/schema';
import { type Topic, topics } from '@pm/schemas/log/topics';
import { openSealedLog } from '../authority/sealed-log.io.ts';
import type { UnprovenRecord } from '../authority/unproven-records.io.ts';
import type { KeptOpenings, OpenedPartitions } from '../signoff/first-envelope.io.ts';
import type { SignOffKey } from '../signoff/keys.ts';

type Topics = typeof topics;
export type TopicName = keyof Topics;
/** Every program sends commands and waits for their results. */
type CommandTopic = 'orders' | 'executions';

/** The codecs of topics by their keys. */
type CodecsOf<K extends TopicName> = {
  readonly [Name in K]: RecordCodec<Infer<Topics[Name]['value']>>;
};

export interface LogOptions<K extends TopicName> {
  /** Name of the program, which its requests to the broker carry. */
  readonly clientId: string;
  /** The topics that the program reads or writes. */
  readonly used: Pick<Topics, K>;
  readonly kafka: ReturnType<typeof kafkaConnection>;
  readonly topicPrefix: string;
  /** Raw public key that lists the keys of services. */
  readonly rootKey: string;
  /** Keys that this process seals records with. */
  readonly sealing: readonly SignOffKey[];
  readonly log: Log;
  readonly metrics: Metrics;
  onUnproven(record: UnprovenRecord): void;
  onFault(fault: Fault): void;
}

/** The log as a program uses it: connections, the names of topics on the broker, and the codecs of their values. */
export interface TopicsClient<K extends TopicName> {
  readonly client: LogClient & KeptOpenings & OpenedPartitions;
  /** For commands alone, so that nothing slow is ever in front of them. */
  readonly orders: LogProducer;
  /** For everything else. */
  readonly records: LogProducer;
  readonly names: Readonly<Record<K, string>>;
  readonly codecs: CodecsOf<K>;
  /** Ends of `executions`, from which results are read, in the partitions that are opened. */
  readonly executionEnds: ReadonlyMap<number, number>;
  /** Topics, other than that of results, that are followed no more: `reader:TOPIC:PARTITION`. */
  notFollowed(): readonly string[];
}

/** The part of it that follows and writes some of its topics. */
export type TopicsOf<K extends TopicName> = Pick<
  TopicsClient<K>,
  'records' | 'names' | 'codecs'
> & { readonly client: LogClient };

/** The part of it that sends commands and reads their results. */
export type CommandTopics = TopicsClient<CommandTopic>;

/** Connects, registers the schemas and looks where the results end. Throws the faults of the kit, with nothing open. */
export async function openTopics<const K extends TopicName>(
  options: LogOptions<K | CommandTopic>,
): Promise<TopicsClient<K | CommandTopic>> {
  const { kafka, clientId, log, metrics } = options;
  const { monotonicMs } = systemClock;
  const client = openWatchedLog({ ...kafka, clientId, log, metrics, monotonicMs });
  try {
    return await openTopicsOf(client, options);
  } catch (error) {
    await client.close();
    throw error;
  }
}

async function openTopicsOf<const K extends TopicName>(
  connections: WatchedLog,
  options: LogOptions<K | CommandTopic>,
): Promise<TopicsClient<K | CommandTopic>> {
  const { topicPrefix, used } = options;
  const schemas = new Schemas();
  const client = await openSealedLog({
    ...options,
    client: connections,
    schemas,
    rootKey: Buffer.from(options.rootKey, 'hex'),
  });
  const names = namesOf(used, topicPrefix);
  const [codecs, executionEnds, orders, records] = await Promise.all([
    openCodecs(used, schemas),
    openedEnds(client, names.executions, options.log),
    client.producer(),
    client.producer(),
  ]);
  const notFollowed = () => connections.notReady(names.executions);
  return { client, orders, records, names, codecs, executionEnds, notFollowed };
}

/** The engines that the programs cannot start without. */
export function neededEngines(config: Parameters<typeof kafkaProbe>[0]): readonly EngineProbe[] {
  const { orders, executions } = namesOf(topics, config.topicPrefix);
  return [kafkaProbe(config, [orders, executions])];
}

/** Partitions that were added and that set-up has not opened are left alone. */
async function openedEnds(
  client: LogClient & OpenedPartitions,
  topic: string,
  log: Log,
): Promise<ReadonlyMap<number, number>> {
  const admin = await client.admin();
  const bounds = await admin.bounds(topic).finally(() => admin.close());
  const opened = new Set(client.openedPartitions);
  const unopened = [...bounds.keys()].filter((partition) => !opened.has(partition));
  if (unopened.length > 0) log.warn({ topic, unopened }, notOpenedText);
  const ends = [...bounds].map(([partition, { high }]) => [partition, high] as const);
  return new Map(ends.filter(([partition]) => opened.has(partition)));
}

const notOpenedText = 'partitions are not opened and take no market: run set-up, which opens them';

function namesOf<K extends TopicName>(
  used: Pick<Topics, K>,
  topicPrefix: string,
): Readonly<Record<K, string>> {
  const names = keysOf(used).map((key) => [key, topicName(used[key], topicPrefix)]);
  return Object.fromEntries(names) as Record<K, string>;
}

async function openCodecs<K extends TopicName>(
  used: Pick<Topics, K>,
  schemas: Schemas,
): Promise<CodecsOf<K>> {
  const opening = keysOf(used).map(async (key) => {
    const topic: Topic = used[key];
    return [key, await schemas.codecFor(topic)] as const;
  });
  return Object.fromEntries(await Promise.all(opening)) as unknown as CodecsOf<K>;
}

function keysOf<K extends TopicName>(used: Pick<Topics, K>): readonly K[] {
  return Object.keys(used) as K[];
}
