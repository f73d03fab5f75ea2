import { type LogClient, openLogClient } from '../src/kafka/index.ts';
import { silentLog } from '../src/log/index.ts';

/** Address of an engine that tests run against (`npm run test:engines` starts them). */
export function engineUrl(engine: 'KAFKA' | 'REGISTRY' | 'CLICKHOUSE' | 'REDIS'): string {
  const url = process.env[`PM_TEST_${engine}`];
  if (url === undefined || url === '')
    throw new Error(`PM_TEST_${engine} is not set: run npm run test:engines`);
  return url;
}

/** Opens clients of the log for the tests of a file; they are closed after the last test. */
export function logClients(clientId: string): () => LogClient {
  const clients: LogClient[] = [];
  afterAll(async () => {
    await Promise.all(clients.map((client) => client.close()));
  }, 30_000);
  return () => {
    const client = openLogClient({ brokers: [engineUrl('KAFKA')], clientId, log: silentLog });
    clients.push(client);
    return client;
  };
}
