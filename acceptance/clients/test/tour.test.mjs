import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import test from 'node:test';
import { ExchangeClient, walletFromPrivateKey } from '../../../client/dist/index.js';
import { baseUrl, keyAt, marketAt } from './exchange.mjs';

/** Public test accounts: one quotes, the other takes the tour. */
const [quoterIndex, visitorIndex] = [8, 9];
const tourMarket = marketAt(9);
const command = join(import.meta.dirname, '../../dist/commands/tour.js');

test('every read returns data to a new user', async () => {
  const client = new ExchangeClient({ baseUrl, signer: walletFromPrivateKey(keyAt(quoterIndex)) });
  await client.connect();
  const orders = tourMarket.tokenIds.map((tokenId) => ({
    tokenId,
    side: 'BUY',
    price: '0.45',
    size: '100',
  }));
  const placed = await client.placeOrders(orders);
  assert.deepEqual(
    placed.map(({ success }) => success),
    [true, true],
  );
  const tour = spawnSync(
    process.execPath,
    [command, '--base-url', baseUrl, '--account', String(visitorIndex)],
    {
      encoding: 'utf8',
      timeout: 90_000,
    },
  );
  const wrong = tour.stdout.split('\n').filter((line) => line.includes('<--'));
  assert.deepEqual([wrong, tour.stderr, tour.status], [[], '', 0]);
  await client.cancelAll();
});
