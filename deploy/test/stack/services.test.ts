import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { engineVariables } from '@pm/kit/config';
import { defaultPorts } from '../../src/local/ports.ts';
import { loadOrMakeKeys, readAuthority } from '../../src/setup/keys.ts';
import { Places } from '../../src/stack/scale.ts';
import { exchangeServices } from '../../src/stack/services.ts';

const folder = mkdtempSync(join(tmpdir(), 'services-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const keys = loadOrMakeKeys(join(folder, 'keys.json'));
const options = {
  urls: { kafka: '', registry: '', redis: '', clickhouse: '' },
  access: {},
  ports: defaultPorts,
  keys,
  dataDir: folder,
  logDir: folder,
  replicationMin: 1,
  engines: [],
};

test('no service gets the seeds that list keys, and the matcher gets the public half of the opening key', () => {
  const services = exchangeServices(options);
  const authority = readAuthority(keys, 'this test');
  const given = services.map(({ name, args, env }) => [name, JSON.stringify([args, env])] as const);
  for (const [, text] of given)
    for (const seed of Object.values(authority)) expect(text).not.toContain(seed);
  const holders = given.filter(([, text]) => text.includes(keys.operatorSeed));
  expect(holders).toHaveLength(1);
  const matcher = services.find(({ name }) => name === 'matcher');
  expect(matcher?.env?.['PM_OPERATOR_KEY']).toBe(keys.openingKey);
});

test('the gateway and the MCP server, which use no engine, get no address and no sign-in of one', () => {
  const access = { PM_KAFKA_SASL_USERNAME: 'exchange', PM_REDIS_USERNAME: 'exchange' };
  const services = exchangeServices({ ...options, access });
  const found = services.map(({ name, env }) => [
    name,
    Object.keys(env).some((variable) => engineVariables.includes(variable)),
  ]);
  expect(found.filter(([, hasOne]) => hasOne === false)).toEqual([
    ['mcp', false],
    ['gateway', false],
  ]);
});

test('names of topics, keys and tables reach each service that has some', () => {
  const access = {
    PM_TOPIC_PREFIX: 'east-',
    PM_REDIS_PREFIX: 'east',
    PM_CLICKHOUSE_DATABASE: 'east',
  };
  const services = exchangeServices({ ...options, access });
  const withOf = (variable: string, value: string) =>
    services.filter(({ env }) => env[variable] === value).map(({ name }) => name);
  const onKafka = ['matcher', 'projectors', 'ingress', 'operator', 'query-api', 'streams'];
  expect(withOf('PM_TOPIC_PREFIX', 'east-')).toEqual(onKafka);
  expect(withOf('PM_REDIS_PREFIX', 'east')).toEqual(onKafka);
  expect(withOf('PM_CLICKHOUSE_DATABASE', 'east')).toEqual(['projectors', 'query-api']);
});

test('several processes of a service differ in name and place, and the others know all of them', () => {
  const second = { ...defaultPorts, ingress: 1, ingressOps: 2, streams: 3, streamsOps: 4 };
  const more = { ...second, gateway: 5, gatewayOps: 6, matcherOps: 7 };
  const scale = { ingress: 2, streams: 2, gateway: 2, matcher: 2 };
  const places = new Places(scale, [defaultPorts, more]);
  const services = exchangeServices({ ...options, places, extraEnv: { 'ingress-2': { A: 'b' } } });
  const find = (wanted: string) => services.find(({ name }) => name === wanted);
  const names = services.map(({ name }) => name);
  expect(new Set(names).size).toBe(names.length);
  expect(names).toHaveLength(12);
  const ports = services.flatMap((one) => one.ports);
  expect(new Set(ports).size).toBe(ports.length);
  const ingresses = [find('ingress'), find('ingress-2')];
  expect(ingresses.map((one) => one?.env?.['PM_HTTP_PROCESSES'])).toEqual(['2', '2']);
  expect(ingresses.map((one) => one?.env?.['A'])).toEqual([undefined, 'b']);
  const both = 'http://127.0.0.1:18001,http://127.0.0.1:1';
  for (const name of ['gateway', 'gateway-2', 'streams', 'streams-2'])
    expect(find(name)?.env?.['PM_INGRESS_URL']).toBe(both);
  const folders = ['streams', 'streams-2'].map((name) => find(name)?.env?.['PM_STREAMS_DIR']);
  expect(new Set(folders).size).toBe(2);
  expect(find('gateway-2')?.dependsOn).toContain('ingress-2');
  const owners = ['matcher', 'matcher-2'].map((name) => find(name)?.env);
  expect(owners.map((env) => env?.['PM_INSTANCE'])).toEqual(['matcher-1', 'matcher-2']);
  expect(['matcher', 'matcher-2'].map((name) => find(name)?.standInGroup)).toEqual([
    'matcher',
    'matcher',
  ]);
  expect(owners[0]?.['PM_SNAPSHOT_DIR']).toBe(owners[1]?.['PM_SNAPSHOT_DIR']);
});
