import { type LogClient, openLogClient } from '@pm/kit/kafka';
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
  };
}

/** The offset after the last record of partition 0. */
export async function endOf(client: LogClient, topic: string): Promise<number> {
  const admin = await client.admin();
  const bounds = await admin.bounds(topic);
  await admin.close();
  return bounds.get(0)?.high ?? 0;
}
