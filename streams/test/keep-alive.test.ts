import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { deriveKey } from '@pm/domain/accounts/derive-keys';
import { KeyDirectory } from '@pm/domain/accounts/key-directory';
import { coversNothing } from '@pm/domain/accounts/request-hmac';
import { systemClock } from '@pm/kit/clock';
import { silentLog } from '@pm/kit/log';
import { apiKeyBytes, hexBytes, type WalletAddress } from '@pm/schemas/ids';
import { headers } from '@pm/schemas/signing';
import { SessionKeepAlives } from '../src/own/keep-alive.io.ts';

const present = Buffer.alloc(32, 7);
const wallet = `0x${'11'.repeat(20)}` as WalletAddress;
const beats: IncomingHttpHeaders[] = [];
/** The time of this ingress, and how far a timestamp may differ from it, milliseconds. */
const serverTime = { aheadMs: 0, freshnessMs: 30_000 };
const ingress = createServer((request, response) => {
  const nowMs = Date.now() + serverTime.aheadMs;
  const skewMs = Math.abs(Number(request.headers[headers.timestamp.toLowerCase()]) - nowMs);
  if (skewMs > serverTime.freshnessMs) {
    response.statusCode = 401;
    response.end(JSON.stringify({ error: 'TIMESTAMP_SKEW', server_time: nowMs }));
    return;
  }
  beats.push(request.headers);
  response.end('{}');
});
const keys = new KeyDirectory();
let keepAlives: SessionKeepAlives;

const { apiKey } = deriveKey(present, { wallet, nonce: '0' });
const holder = {
  apiKey,
  wallet,
  selfTrade: 'ALLOW',
  covers: { ...coversNothing, query: true },
} as const;

beforeAll(async () => {
  await new Promise<void>((resolve) => {
    ingress.listen(0, '127.0.0.1', resolve);
  });
  keys.apply({
    apiKey: apiKeyBytes(apiKey),
    wallet: hexBytes(wallet),
    nonce: '0',
    version: 0,
    keyKind: 'TRADING',
    active: true,
    createdAtMs: 1,
    revokedAtMs: 0,
    selfTrade: 'ALLOW',
  });
  keepAlives = openKeepAlives([urlOfIngress()]);
});

const urlOfIngress = () => `http://127.0.0.1:${(ingress.address() as AddressInfo).port}`;

function openKeepAlives(ingressUrls: readonly string[]): SessionKeepAlives {
  const secrets = { present, others: [] };
  return new SessionKeepAlives({ ingressUrls, keys, secrets, clock: systemClock, log: silentLog });
}

afterAll(() => {
  keepAlives.close();
  ingress.close();
});

/** Addresses that the next heartbeats name. */
async function namedBy(count: number): Promise<readonly unknown[]> {
  const from = beats.length;
  while (beats.length < from + count) await new Promise((resolve) => setTimeout(resolve, 10));
  return beats.slice(from, from + count).map((sent) => sent['x-forwarded-for']);
}

test('heartbeats of cancel_on_disconnect count for the address of a connection that is open', async () => {
  const first = namedBy(1);
  const left = keepAlives.hold(holder, '203.0.113.1');
  expect(await first).toEqual(['203.0.113.1']);
  const second = namedBy(1);
  const stays = keepAlives.hold(holder, '203.0.113.2');
  expect(await second).toEqual(['203.0.113.2']);
  stays.release();
  stays.release();
  expect(keepAlives.size).toBe(1);
  expect(await namedBy(1)).toEqual(['203.0.113.1']);
  left.release();
  expect(keepAlives.size).toBe(0);
}, 10_000);

test('heartbeats go to the next process of ingress where one cannot be reached', async () => {
  const nothingListens = 'http://127.0.0.1:1';
  const passing = openKeepAlives([nothingListens, urlOfIngress()]);
  const beat = namedBy(1);
  const hold = passing.hold(holder, '203.0.113.3');
  expect(await beat).toEqual(['203.0.113.3']);
  hold.release();
  passing.close();
});

test.each([3_600_000, -3_600_000])(
  'heartbeats go on where the clock of ingress is off by %d ms',
  async (aheadMs) => {
    const away = openKeepAlives([urlOfIngress()]);
    serverTime.aheadMs = aheadMs;
    const beat = namedBy(1);
    const hold = away.hold(holder, '203.0.113.4');
    expect(await beat).toEqual(['203.0.113.4']);
    serverTime.aheadMs = 0;
    hold.release();
    away.close();
  },
);
