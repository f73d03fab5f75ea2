import { openHttp } from '@pm/kit/http';
import { headers as names } from '@pm/schemas/signing';
import { Canaries, seenOf } from '../../../kit/test/hostile/canaries.ts';
import { KeptLog } from '../../../kit/test/hostile/kept-log.ts';
import { addReadRoutes } from '../../src/http/app.route.ts';
import { onFailure } from '../../src/http/read-route.io.ts';
import { unservedFiltersOf } from '../../src/http/unserved-filters.ts';
import { partsOver, readers, readRoutes } from '../hostile-fixture.ts';
import { World } from '../in-memory.ts';

/**
 * Proofs of every kind go through every read while the tables break in an unforeseen way: the one failure that is
 * logged.
 */
const proofs = {
  [names.passphrase]: '5e'.repeat(32),
  [names.signature]: 'c2lnbmF0dXJlLW9mLWEtcmVxdWVzdC0wMTIzNDU2Nzg',
  [names.readOnlyKey]: '6f1c0a52-7d1e-4b43-9a0e-3f2f7f0c1d55',
  authorization: `Bearer pro_${'k7'.repeat(16)}`,
  'idempotency-key': 'canary-idempotency-key',
};

test('no proof of a reader is logged, also when reads fail', async () => {
  const secrets = new Canaries();
  for (const [header, value] of Object.entries(proofs)) secrets.add(header, value);
  const log = new KeptLog();
  const world = new World();
  const broken = {
    selectRows: () => Promise.reject(new Error('the tables are not what they were')),
  };
  const app = openHttp({ log, bodyLimitBytes: 10_000 });
  addReadRoutes(app, partsOver(world, broken));
  onFailure(app, (route, error) => log.error({ err: error, route }, 'request failed'));
  const headers = { ...proofs, 'content-type': 'application/json' };
  const given = { user: readers[0]?.wallet ?? '', token_id: '1010', market: '1010' };
  for (const { method, path } of readRoutes) {
    for (world.caller of readers) {
      const served = Object.entries(given).filter(([name]) => !unservedFiltersOf(path).has(name));
      const query = [...served, ['interval', '1d'], ['key', proofs[names.readOnlyKey] ?? '']];
      const url = `${path.replace(/:\w+/g, '1')}?${new URLSearchParams(Object.fromEntries(query))}`;
      const body = method === 'POST' ? { payload: { secret: proofs[names.passphrase] } } : {};
      await app.inject({ method, url, headers, ...body });
    }
  }
  expect(log.lines.length).toBeGreaterThan(5);
  expect(secrets.foundIn(seenOf(log.lines))).toEqual([]);
  await app.close();
});
