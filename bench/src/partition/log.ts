import type { ExchangeKeys } from '@pm/deploy/setup/keys';
import { openSealedLog } from '@pm/domain/authority/sealed-log.io';
import { openSignOffKey } from '@pm/domain/signoff/keys';
import { type LogClient, type LogProducer, openLogClient } from '@pm/kit/kafka';
import { silentLog } from '@pm/kit/log';
import { openRegistry, type RecordCodec, type Registry } from '@pm/kit/registry';
import { type Envelope, type Execution, topics } from '@pm/schemas';

/** Where the log is, as it travels to a child process. */
export interface LogPlace {
  readonly brokers: string;
  readonly registry: string;
}

export interface OpenLog {
  readonly client: LogClient;
  readonly orders: RecordCodec<Envelope>;
  readonly executions: RecordCodec<Execution>;
  readonly codecFor: Registry['codecFor'];
  readonly readerFor: Registry['readerFor'];
}

export const ordersTopic: string = topics.orders.name;
export const executionsTopic: string = topics.executions.name;

export async function openLog(place: LogPlace, clientId: string): Promise<OpenLog> {
  const client = openLogClient({ brokers: place.brokers.split(','), clientId, log: silentLog });
  const registry = openRegistry({ url: place.registry, topicPrefix: '', log: silentLog });
  return {
    client,
    orders: await registry.codecFor(topics.orders),
    executions: await registry.codecFor(topics.executions),
    codecFor: registry.codecFor,
    readerFor: registry.readerFor,
  };
}

/** A producer that seals with the key of the operator. */
export async function operatorProducer(
  { client, readerFor }: OpenLog,
  keys: Pick<ExchangeKeys, 'rootKey' | 'operatorSeed'>,
): Promise<LogProducer> {
  const sealed = await openSealedLog({
    client,
    registry: { readerFor },
    topicPrefix: '',
    rootKey: Buffer.from(keys.rootKey, 'hex'),
    sealing: [openSignOffKey(Buffer.from(keys.operatorSeed, 'hex'))],
    log: silentLog,
    onUnproven: () => {},
    onFault: (fault) => {
      throw fault;
    },
  });
  return await sealed.producer();
}

/** The offset after the last record of partition 0. */
export async function endOf(client: LogClient, topic: string): Promise<number> {
  const admin = await client.admin();
  const bounds = await admin.bounds(topic);
  await admin.close();
  return bounds.get(0)?.high ?? 0;
}
