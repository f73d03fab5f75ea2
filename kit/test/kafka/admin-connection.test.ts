import { type LogClient, openLogClient } from '../../src/kafka/index.ts';
import { silentLog } from '../../src/log/index.ts';
import { until } from './deferred.ts';
import { ScriptedBrokers } from './scripted-brokers.ts';

const hourMs = 3_600_000;
const limits = { requestTimeoutMs: 300, sendTimeoutMs: 300, closeTimeoutMs: 300 };

let brokers: ScriptedBrokers;
let client: LogClient;

beforeEach(async () => {
  brokers = await ScriptedBrokers.open([1]);
  brokers.topic('t', [1]);
  client = openLogClient({ brokers: brokers.addresses, clientId: 'test', log: silentLog, limits });
});

afterEach(async () => {
  jest.restoreAllMocks();
  brokers.kill(1);
  await client.close();
  await brokers.close();
});

const passes = { code: 'log_away', reaction: 'retry' };

/** Once a request is under way the clock is set back, and the answer does not come. */
async function loseAnswer(ask: () => Promise<unknown>): Promise<unknown> {
  brokers.standStill(1);
  const asked = ask().catch((error: unknown) => error);
  await until(() => brokers.heldBy(1) > 0, 'a request is under way');
  const real = Date.now.bind(Date);
  jest.spyOn(Date, 'now').mockImplementation(() => real() - hourMs);
  return await asked;
}

test('a lost answer is given up although the wall clock is set back by an hour', async () => {
  const admin = await client.admin();
  expect([...(await admin.bounds('t'))]).toEqual([[0, { low: 0, high: 0 }]]);
  const ask = () => Promise.allSettled([admin.bounds('t'), admin.commits('g', 't')]);
  expect(await loseAnswer(ask)).toMatchObject([{ reason: passes }, { reason: passes }]);
});

test('a connection whose broker says nothing is given up as well', async () => {
  expect(await loseAnswer(() => client.admin())).toMatchObject(passes);
});
