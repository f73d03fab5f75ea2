import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { defaultPorts } from '../../src/local/ports.ts';
import { loadOrMakeKeys } from '../../src/setup/keys.ts';
import { heapOf, heapsOf } from '../../src/stack/heaps.ts';
import { exchangeServices } from '../../src/stack/services.ts';

const gibibyte = 1024 ** 3;
const at = (memoryGibibytes: number, env = {}, processes = {}) =>
  heapsOf({ env, memoryBytes: memoryGibibytes * gibibyte, processes });

test('without a variable heaps that grow with markets and wallets follow the memory, within bounds', () => {
  const small = { ingress: 192, 'query-api': 192, streams: 384, gateway: 192 };
  expect(at(2)).toMatchObject(small);
  expect(at(6)).toMatchObject(small);
  expect(at(16)).toMatchObject({ ingress: 512, 'query-api': 512, streams: 1024, gateway: 192 });
  expect(at(1024)).toMatchObject({ operator: 4096, matcher: 4096, streams: 4096, mcp: 192 });
});

test('processes of one service share its part of the memory', () => {
  const heaps = at(24, {}, { streams: 3, matcher: 2 });
  expect(heaps).toMatchObject({ streams: 512, matcher: 384, ingress: 768 });
});

test('a variable of all counts before the memory, and that of a service before both', () => {
  const env = { PM_HEAP_MB: '300', PM_HEAP_MB_QUERY_API: '700' };
  expect(at(64, env)).toMatchObject({ streams: 300, gateway: 300, 'query-api': 700 });
});

test.each(['63', '1e3', '512m', '-1'])('%s is no heap', (text) => {
  const env = { PM_HEAP_MB_STREAMS: text };
  expect(() => at(8, env)).toThrow(/^PM_HEAP_MB_STREAMS=.*allowed is a whole number from 64 to/);
});

test('each process gets the heap of its program, and knows the variable of a larger one', () => {
  const heaps = at(8, { PM_HEAP_MB_STREAMS: '1500' });
  const folder = mkdtempSync(join(tmpdir(), 'heaps-'));
  const services = exchangeServices({
    urls: { kafka: '', registry: '', redis: '', clickhouse: '' },
    access: {},
    ports: defaultPorts,
    keys: loadOrMakeKeys(join(folder, 'keys.json')),
    dataDir: folder,
    logDir: folder,
    replicationMin: 1,
    engines: [],
    heaps,
  });
  rmSync(folder, { recursive: true });
  const streams = services.find(({ name }) => name === 'streams');
  expect(streams?.args).toContain('--max-old-space-size=1500');
  expect(streams?.heap).toEqual({ mebibytes: 1500, variable: 'PM_HEAP_MB_STREAMS' });
  expect(services.map(({ heap }) => heap?.mebibytes ?? 0)).not.toContain(0);
});

test('without heaps a process gets that of a small machine', () => {
  expect(heapOf('streams')).toEqual({ mebibytes: 384, variable: 'PM_HEAP_MB_STREAMS' });
});
