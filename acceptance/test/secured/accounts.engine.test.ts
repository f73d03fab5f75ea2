import { execFile } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { get } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { ExchangeClient, signedHeaders } from '@pm/client';
import { testAccounts } from '@pm/deploy/demo/wallets';
import { readAddresses } from '@pm/deploy/installation/read-addresses';
import { repositoryRoot } from '@pm/deploy/local/paths';
import { freePorts, loopback } from '@pm/deploy/local/ports';
import { Supervisor } from '@pm/deploy/local/supervisor';
import { setUpExchange } from '@pm/deploy/setup/exchange-setup';
import { loadOrMakeKeys } from '@pm/deploy/setup/keys';
import { makeFirstOperator } from '@pm/deploy/setup/operators';
import { openOperator } from '@pm/deploy/stack/operator';
import { exchangeServices } from '@pm/deploy/stack/services';
import { defaultFeeWallet } from '@pm/domain/accounts/reserved-addresses';
import { openClickHouse } from '@pm/kit/clickhouse';
import { clickhouseAccount, redisConnection } from '@pm/kit/config';
import { Fault } from '@pm/kit/fault';
import { silentLog } from '@pm/kit/log';
import { openRedis } from '@pm/kit/redis';
import { declaredAccess } from '@pm/operate/access/declared';
import type { TokenId, WalletAddress } from '@pm/schemas/ids';
import { redisKeys } from '@pm/schemas/redis/keys';
import { tryCreate, tryRead, tryWrite } from '../../../kit/test/kafka/broker-access.ts';
import { preflightLines } from '../preflight/preflight-lines.ts';
import { namesOf } from '../services-under-test.ts';
import { untilNone } from '../whole-exchange.ts';
import { type GuardedEngines, startGuardedEngines } from './guarded-engines.ts';

jest.setTimeout(180_000);

const name = `accounts_${process.pid}`;
const names = namesOf(name);
const topicPrefix = `${name}-`;
const run = promisify(execFile);

let folder: string;
let engines: GuardedEngines;
let supervisor: Supervisor | undefined;
let urls: { readonly gateway: string; readonly operator: string };
let operatorToken: string;
let rootKey: string;
let token: string;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'pm-accounts-'));
  engines = await startGuardedEngines(folder, names);
  const keys = loadOrMakeKeys(join(folder, 'keys.json'));
  operatorToken = keys.operatorToken;
  rootKey = keys.rootKey;
  makeFirstOperator(folder, keys);
  const shared = { urls: engines.urls, keys };
  await setUpExchange({
    ...shared,
    access: { ...engines.shared, ...engines.variablesOf('setup') },
    partitions: 1,
    feeWallet: defaultFeeWallet,
    replicationFactor: 1,
    progress: () => {},
  });
  const ports = await freePorts();
  urls = {
    gateway: `http://${loopback}:${ports.gateway}`,
    operator: `http://${loopback}:${ports.operator}`,
  };
  const lines: string[] = [];
  const processes = await Supervisor.open({
    dataDir: folder,
    progress: (line) => lines.push(line),
    onFatal: ({ message }) => lines.push(message),
  });
  supervisor = processes;
  const services = exchangeServices({
    ...shared,
    ports,
    access: engines.shared,
    dataDir: folder,
    logDir: join(folder, 'logs'),
    replicationMin: 1,
    engines: [],
    extraEnv: Object.fromEntries(
      ['ingress', 'operator', 'matcher', 'projectors', 'query-api', 'streams'].map((service) => [
        service,
        engines.variablesOf(service),
      ]),
    ),
  });
  await processes
    .start(services.filter((service) => service.name !== 'mcp'))
    .catch((error: unknown) => {
      throw new Error(lines.slice(-20).join('\n'), { cause: error });
    });
}, 240_000);

/** Its processes end before the first questions of other callers, which ask the engines alone. */
async function endExchange(): Promise<void> {
  if (supervisor === undefined) return;
  supervisor.killAll();
  await supervisor.stop();
}

afterAll(async () => {
  await endExchange();
  await engines?.stop();
  rmSync(folder, { recursive: true, force: true });
}, 60_000);

/** Environment of a command under its account. */
function environmentOf(tool: string): NodeJS.ProcessEnv {
  return {
    PATH: process.env['PATH'],
    ...engines.shared,
    ...engines.variablesOf(tool),
    PM_KAFKA_BROKERS: engines.urls.kafka,
    PM_REGISTRY_URL: engines.urls.registry,
    PM_REDIS_URL: engines.urls.redis,
    PM_CLICKHOUSE_URL: engines.urls.clickhouse,
    PM_ROOT_KEY: rootKey,
  };
}

async function runTool(tool: string, args: readonly string[]): Promise<string> {
  const entry = join(repositoryRoot, 'operate/dist/commands', `${tool}.js`);
  const { stdout } = await run(process.execPath, [entry, ...args], { env: environmentOf(tool) });
  return stdout;
}

test('an exchange whose processes have these accounts books orders, shows them and passes the audit', async () => {
  const operator = openOperator(urls.operator, operatorToken);
  const market = { slug: 'accounts', question: 'Accounts?', minOrderSize: '1' };
  const listed = await operator.importEvents([
    { slug: 'accounts', title: 'Accounts', markets: [market] },
  ]);
  const [one = '', other = ''] = listed.markets.flatMap(({ tokenIds }) => tokenIds);
  token = one;
  const [maker, taker] = testAccounts();
  if (maker === undefined || taker === undefined) throw new Error('two wallets');
  const deposits = [maker, taker].map(({ address }) => ({
    transferId: `0x${address.slice(2).padStart(64, '0')}`,
    wallet: address,
    amount: '100',
  }));
  await operator.deposit(deposits);
  const [first, second] = [maker, taker].map(
    (signer) => new ExchangeClient({ baseUrl: urls.gateway, signer }),
  ) as [ExchangeClient, ExchangeClient];
  const trio = await first.connect();
  await second.connect();
  const bid = { side: 'BUY', price: '0.40', size: '10' } as const;
  const placed = await first.placeOrder({ ...bid, tokenId: one });
  expect(placed).toMatchObject({ success: true, status: 'live' });
  const taken = await second.placeOrder({ ...bid, tokenId: other, price: '0.60', size: '4' });
  expect(taken).toMatchObject({ success: true, status: 'matched' });
  await untilNone(
    'the book',
    async () => {
      const book = await first.book(one).catch(() => null);
      return book?.bids[0]?.size === '6' ? [] : [JSON.stringify(book)];
    },
    30_000,
  );
  const key = { ...trio, address: maker.checksummed };
  const path = '/balance-allowance';
  const headers = signedHeaders(key, { method: 'GET', path, body: '' }, Date.now());
  const balance = await fetch(`${urls.gateway}${path}?asset_type=COLLATERAL`, {
    headers: { ...headers },
  });
  expect(balance.status).toBe(200);

  const [audit, repair] = await Promise.all([
    runTool('audit', []),
    runTool('repair', ['--dry-run']),
  ]);
  expect(audit).toContain('everything adds up');
  expect(repair).toContain('no output is missing');
  expect(await runTool('rebuild', ['--compare-only'])).toContain('every table equals the log');
  const logs = readdirSync(join(folder, 'logs')).map((file) =>
    readFileSync(join(folder, 'logs', file), 'utf8'),
  );
  expect(logs.join('\n')).not.toMatch(/NOPERM|AUTHORIZATION_FAILED|canary-of/);
  await endExchange();
});

const denied = 'TOPIC_AUTHORIZATION_FAILED';

test.each([
  { service: 'ingress', reads: 'executions', writesNot: 'executions', readsNot: 'transfers' },
  // Whoever took over the process that faces the internet lists no market and binds no wallet.
  { service: 'ingress', reads: 'catalog', writesNot: 'catalog', readsNot: 'audit' },
  { service: 'ingress', reads: 'wallet-status', writesNot: 'wallet-status', readsNot: 'approvals' },
  { service: 'ingress', reads: 'wallet-owners', writesNot: 'wallet-owners', readsNot: 'routing' },
  { service: 'operator', reads: 'credentials', writesNot: 'credentials', readsNot: 'sessions' },
  { service: 'matcher', reads: 'orders', writesNot: 'transfers', readsNot: 'credentials' },
  { service: 'projectors', reads: 'catalog', writesNot: 'executions', readsNot: 'orders' },
  { service: 'query-api', reads: 'orders', writesNot: 'orders', readsNot: 'transfers' },
  { service: 'streams', reads: 'sessions', writesNot: 'sessions', readsNot: 'orders' },
])('the broker refuses $service what is not its own', async (one) => {
  const account = engines.brokerAccount(one.service);
  const topic = (of: string) => `${topicPrefix}${of}`;
  const outcomes = await Promise.all([
    tryRead(account, topic(one.reads)),
    tryRead(account, topic(one.readsNot)),
    tryWrite(account, topic(one.writesNot)),
    tryCreate(account, topic('another')),
  ]);
  expect(outcomes).toEqual(['done', denied, denied, denied]);
});

test('what is refused to services is done for an account that may', async () => {
  const account = engines.brokerAccount('admin');
  expect(await tryCreate(account, `${topicPrefix}another`)).toBe('done');
  expect(await tryWrite(account, `${topicPrefix}another`)).toBe('done');
  expect(await tryRead(account, `${topicPrefix}another`)).toBe('done');
});

/** The reply of Redis to a command of an account: its value, or the class of the refusal. */
async function reply(
  account: string,
  command: readonly [string, ...string[]],
  url = engines.urls.redis,
): Promise<unknown> {
  const addresses = readAddresses({
    ...environmentOf(account),
    ...engines.variablesOf(account),
    PM_REDIS_URL: url,
  });
  const redis = openRedis({ ...redisConnection(addresses), log: silentLog });
  try {
    const [verb, ...args] = command;
    return await redis.call(verb, ...args);
  } catch (error) {
    return Reflect.get(Object(Reflect.get(Object(error), 'facts')), 'reply');
  } finally {
    redis.disconnect();
  }
}

test('preflight finds all rights of all accounts at the brokers and at Redis', async () => {
  const { urls: at } = engines;
  const lines = await preflightLines(
    {
      ...engines.shared,
      ...engines.variablesOf('admin'),
      PM_KAFKA_BROKERS: at.kafka,
      PM_REGISTRY_URL: at.registry,
      PM_REDIS_URL: at.redis,
      PM_CLICKHOUSE_URL: at.clickhouse,
    },
    folder,
  );
  const rights = lines.filter(({ need }) => need.startsWith('rights of '));
  const ofBrokers = rights.filter(({ engine }) => engine === 'kafka');
  expect(ofBrokers.map(({ verdict }) => verdict)).toEqual(declaredAccess.map(() => 'yes'));
  const ofRedis = rights.filter(({ engine }) => engine.startsWith('redis'));
  expect(ofRedis.filter(({ verdict }) => verdict !== 'yes')).toEqual([]);
  expect(ofRedis.length).toBeGreaterThan(10);
});

test('Redis refuses a service what is not its own', async () => {
  const keys = redisKeys(name);
  const book = keys.book(token as TokenId);
  const wallet = keys.wallet(`0x${'5'.repeat(40)}` as WalletAddress);
  const write = (key: string): [string, ...string[]] => ['HSET', key, 'free', '1'];
  const { pending, ledgerTransfers } = keys;
  const script = "return redis.call('HSET', KEYS[1], 'free', 1)";
  const no = 'NOPERM';

  const { cacheUrl } = engines;
  const retry = keys.retry('x');
  const hidden = `return redis.pcall('HSET', '${retry}', 'x', 1)['err']`;
  for (const account of ['ingress', 'query-api'])
    expect(await reply(account, ['HSET', keys.limits(account), 'a', '1'], cacheUrl)).toBe(1);
  expect(await reply('ingress', ['HGET', retry, 'answer'], cacheUrl)).toBeNull();
  expect(await reply('query-api', ['HGET', retry, 'answer'], cacheUrl)).toBe(no);
  expect(await reply('query-api', ['EVAL', hidden, '0'], cacheUrl)).toMatch(/can't access/);
  expect(await reply('ingress', ['HGET', wallet, 'free'], cacheUrl)).toBe(no);
  expect(await reply('ingress', write(keys.limits('address:1')))).toBe(no);
  expect(await reply('ingress', ['HGET', retry, 'answer'])).toBe(no);

  expect(await reply('ingress', ['HGET', wallet, 'free'])).toBeNull();
  expect(await reply('ingress', write(book))).toBe(no);
  expect(await reply('ingress', ['HGET', keys.bookMarks, '0'])).toBe(no);

  expect(await reply('operator', ['HGET', wallet, 'free'])).toBeNull();
  expect(await reply('operator', write(book))).toBe(no);
  expect(await reply('operator', write(keys.limits('address:1')))).toBe(no);

  expect(await reply('query-api', ['HGET', book, 'version'])).toEqual(expect.any(String));
  expect(await reply('query-api', write(ledgerTransfers))).toBe(no);
  expect(await reply('query-api', ['EVAL', script, '1', ledgerTransfers])).toBe(no);
  expect(await reply('query-api', ['HGET', pending, 'x'])).toBe(no);

  expect(await reply('projectors', ['HGET', book, 'version'])).toEqual(expect.any(String));
  expect(await reply('projectors', write(keys.limits('address:1')))).toBe(no);
  expect(await reply('projectors', ['HGET', keys.retry('x'), 'answer'])).toBe(no);

  expect(await reply('audit', ['HGET', book, 'version'])).toEqual(expect.any(String));
  expect(await reply('audit', write(book))).toBe(no);

  const commands = [['FLUSHALL'], ['KEYS', '*'], ['CONFIG', 'GET', '*'], ['ACL', 'LIST']] as const;
  for (const account of ['ingress', 'operator', 'projectors', 'query-api', 'audit', 'rebuild']) {
    const replies = await Promise.all(commands.map((command) => reply(account, command)));
    expect(replies).toEqual(commands.map(() => no));
  }
  expect(await reply('admin', ['HGET', wallet, 'free'])).toBeNull();
});

/** `done`, or the class of the refusal. */
async function outcomeAtTables(account: string, statement: string): Promise<string> {
  const addresses = readAddresses(environmentOf(account));
  const tables = openClickHouse({
    ...clickhouseAccount(addresses),
    database: name,
    log: silentLog,
  });
  try {
    await tables.command(statement);
    return 'done';
  } catch (error) {
    return error instanceof Fault ? error.code : String(error);
  } finally {
    await tables.close();
  }
}

test('ClickHouse refuses a service what is not its own', async () => {
  const select = 'SELECT count() FROM fills';
  const create = `CREATE TABLE ${name}.foreign (a UInt8) ENGINE = MergeTree ORDER BY a`;
  expect(await outcomeAtTables('query-api', select)).toBe('done');
  expect(await outcomeAtTables('query-api', create)).not.toBe('done');
  expect(await outcomeAtTables('audit', create)).not.toBe('done');
  for (const account of ['ingress', 'matcher', 'streams', 'keys'])
    expect(await outcomeAtTables(account, select)).not.toBe('done');
  expect(await outcomeAtTables('setup', create)).toBe('done');
});

test('the registry answers accounts only', async () => {
  const { PM_REGISTRY_URL: url = '' } = environmentOf('ingress');
  const status = (password: string) =>
    new Promise<number | undefined>((resolve, reject) => {
      const auth = `pm-ingress:${password}`;
      const ca = engines.brokerAccount('ingress').ca;
      get(`${url}/subjects`, { auth, ca }, (answer) => {
        answer.resume();
        resolve(answer.statusCode);
      }).once('error', reject);
    });
  expect(await status(engines.brokerAccount('ingress').password)).toBe(200);
  expect(await status('another')).toBe(401);
});
