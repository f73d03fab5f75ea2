import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { defaultPorts } from '../../src/local/ports.ts';
import { loadOrMakeKeys, publicKeyOf } from '../../src/setup/keys.ts';
import { exchangeServices } from '../../src/stack/services.ts';

const folder = mkdtempSync(join(tmpdir(), 'services-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test('no service gets the seeds that list keys, and the matcher gets the public half of the opening key', () => {
  const keys = loadOrMakeKeys(join(folder, 'keys.json'));
  const services = exchangeServices({
    urls: { kafka: '', registry: '', redis: '', clickhouse: '' },
    access: {},
    ports: defaultPorts,
    keys,
    dataDir: folder,
    logDir: folder,
    database: '',
    topicPrefix: '',
    replicationMin: 1,
    engines: [],
  });
  const given = services.map(({ name, args, env }) => [name, JSON.stringify([args, env])] as const);
  for (const [, text] of given)
    for (const seed of [keys.rootSeed, keys.openingSeed]) expect(text).not.toContain(seed);
  const holders = given.filter(([, text]) => text.includes(keys.operatorSeed));
  expect(holders).toHaveLength(1);
  const matcher = services.find(({ name }) => name === 'matcher');
  expect(matcher?.env?.['PM_OPERATOR_KEY']).toBe(publicKeyOf(keys.openingSeed));
});
