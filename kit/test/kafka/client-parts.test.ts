import { type LogClient, openLogClient } from '../../src/kafka/index.ts';
import { silentLog } from '../../src/log/index.ts';
import { until } from './deferred.ts';
import { ScriptedBrokers } from './scripted-brokers.ts';

let brokers: ScriptedBrokers;
let client: LogClient;

beforeEach(async () => {
  brokers = await ScriptedBrokers.open([1]);
  client = openLogClient({ brokers: brokers.addresses, clientId: 'test', log: silentLog });
});

afterEach(() => brokers.close());

test('a part that opens while its client closes is closed, and its caller gets client_closed', async () => {
  const opening = client.producer();
  const refused = expect(opening).rejects.toMatchObject({ code: 'client_closed' });
  await client.close();
  await refused;
  await until(() => brokers.connectionsOf(1) === 0, 'its connections are closed');
});

test('a part that cannot be opened in time does not hold up the close of its client, and is closed later', async () => {
  brokers.standStill(1);
  const hasty = openLogClient({
    brokers: brokers.addresses,
    clientId: 'test',
    log: silentLog,
    limits: { closeTimeoutMs: 50 },
  });
  const opening = hasty.producer();
  const refused = expect(opening).rejects.toMatchObject({ code: 'client_closed' });
  await until(() => brokers.heldBy(1) > 0, 'it asks the broker');
  await hasty.close();
  brokers.goOn(1);
  await refused;
  await until(() => brokers.connectionsOf(1) === 0, 'its connections are closed');
});
