import { type LogClient, openLogClient } from '../../src/kafka/index.ts';
import { silentLog } from '../../src/log/index.ts';
import { createDeferred, until } from './deferred.ts';
import { GroupCoordinator } from './group-coordinator.ts';

jest.setTimeout(60_000);

const refused = 30;

let brokers: GroupCoordinator;
let client: LogClient;
const hanging = createDeferred();

afterEach(async () => {
  hanging.resolve();
  await client.close();
  await brokers.close();
});

test('a partition is assigned again after its own revocation, also while another one has not ended', async () => {
  brokers = await GroupCoordinator.open(1);
  brokers.partitions = 2;
  const { addresses } = brokers;
  client = openLogClient({ brokers: addresses, clientId: 'test', log: silentLog });
  const events: string[] = [];
  const group = await client.group({
    groupId: 'g',
    topic: 't',
    dense: true,
    onAssigned: async (partition) => {
      events.push(`assigned ${partition}`);
      return 0;
    },
    onRevoked: async (partition) => {
      events.push(`revoked ${partition}`);
      if (partition === 0) await hanging.promise;
    },
    onBatch: async () => {},
    onFault: () => {},
  });
  await until(() => events.length === 2, 'both are assigned');
  brokers.heartbeatError = refused;
  await until(() => group.memberId === null, 'it has crashed');
  brokers.heartbeatError = 0;
  await until(() => events.length === 5, 'it has joined again');
  expect(events).toEqual(['assigned 0', 'assigned 1', 'revoked 0', 'revoked 1', 'assigned 1']);
  hanging.resolve();
  await until(() => events.at(-1) === 'assigned 0', 'the other one follows');
});
