import { logPlaceOf } from '@pm/deploy/installation/open';
import type { ExchangeKeys } from '@pm/deploy/setup/keys';
import { openSealedLog } from '@pm/domain/authority/sealed-log.io';
import { openSignOffKey } from '@pm/domain/signoff/keys';
import { type LogClient, type LogProducer, openLogClient } from '@pm/kit/kafka';
import { silentLog } from '@pm/kit/log';
import type { RecordCodec, Schemas } from '@pm/kit/registry';
import type { Execution } from '@pm/schemas/log/executions';
import type { Envelope } from '@pm/schemas/log/orders';
import { topics } from '@pm/schemas/log/topics';

/** Where the log is, as it travels to a child process. */
export interface LogPlace {
  readonly brokers: string;
  readonly rootKey: string;
}

export interface OpenLog {
  readonly client: LogClient;
  readonly orders: RecordCodec<Envelope>;
  readonly executions: RecordCodec<Execution>;
  readonly schemas: Schemas;
}

export const ordersTopic: string = topics.orders.name;
export const executionsTopic: string = topics.executions.name;

export async function openLog(place: LogPlace, clientId: string): Promise<OpenLog> {
  const client = openLogClient({ brokers: place.brokers.split(','), clientId, log: silentLog });
  const { schemas } = logPlaceOf(client, { topicPrefix: '', rootKey: place.rootKey });
  return {
    client,
    orders: await schemas.codecFor(topics.orders),
    executions: await schemas.codecFor(topics.executions),
    schemas,
  };
}

/** A producer that seals with the key of the operator. */
export async function operatorProducer(
  { client, schemas }: OpenLog,
  keys: Pick<ExchangeKeys, 'rootKey' | 'operatorSeed'>,
): Promise<LogProducer> {
  const sealed = await openSealedLog({
    client,
    schemas,
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
