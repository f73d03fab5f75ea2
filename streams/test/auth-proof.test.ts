import { createHmac } from 'node:crypto';
import { deriveKey } from '@pm/domain/accounts/derive-keys';
import { KeyDirectory } from '@pm/domain/accounts/key-directory';
import { openKeyVerifier } from '@pm/domain/accounts/key-verifier';
import { systemClock } from '@pm/kit/clock';
import { apiKeyBytes, hexBytes } from '@pm/schemas/ids';
import { streamProofPath } from '@pm/schemas/streams/channels';
import { wallet } from '../../query-api/test/in-memory.ts';
import { StreamClient } from './stream-client.ts';
import { StreamWorld } from './stream-world.ts';

const present = Buffer.alloc(32, 7);
const key = deriveKey(present, { wallet: wallet(1), nonce: '0' });
let world: StreamWorld;

beforeEach(async () => {
  const keys = new KeyDirectory();
  keys.apply({
    apiKey: apiKeyBytes(key.apiKey),
    wallet: hexBytes(wallet(1)),
    nonce: '0',
    version: -1,
    keyKind: 'TRADING',
    active: true,
    createdAtMs: 1,
    revokedAtMs: 0,
    selfTrade: 'ALLOW',
  });
  world = await new StreamWorld().start();
  world.verify = openKeyVerifier({
    keys,
    secrets: { present, others: [] },
    freshness: { secondsMs: 300_000, millisecondsMs: 30_000 },
    nowMs: () => systemClock.nowMs(),
  });
});
afterEach(() => world.close());

/** A connection after its `welcome`, and the id in it. */
async function opened(): Promise<{ readonly client: StreamClient; readonly streamId: string }> {
  const client = await StreamClient.open(world.url);
  const { stream_id: streamId } = await client.of('welcome');
  return { client, streamId: String(streamId) };
}

/** Headers of the key over a path as a GET without a body. */
function headersOver(path: string): Record<string, string> {
  const timestamp = String(systemClock.nowMs());
  const digest = createHmac('sha256', key.secret).update(`${timestamp}GET${path}`).digest('base64');
  return {
    SERVICE_ADDRESS: wallet(1),
    SERVICE_API_KEY: key.apiKey,
    SERVICE_PASSPHRASE: key.passphrase,
    SERVICE_TIMESTAMP: timestamp,
    SERVICE_SIGNATURE: digest,
  };
}

async function isProven(client: StreamClient, frame: object): Promise<boolean> {
  client.send({ op: 'auth', id: 1, ...frame });
  const answer = client.next(({ type }) => type === 'authenticated' || type === 'error');
  const isDone = answer.then(() => true);
  if (!(await Promise.race([isDone, world.proofTimePasses().then(() => false)]))) await isDone;
  return (await answer).type === 'authenticated';
}

test.each([false, true])(
  'a proof over the connection and the option %s opens it',
  async (option) => {
    const { client, streamId } = await opened();
    const headers = headersOver(streamProofPath({ streamId, cancelOnDisconnect: option }));
    expect(await isProven(client, { headers, cancel_on_disconnect: option })).toBe(true);
    expect(world.held).toBe(Number(option));
  },
);

test('a frame without the option is signed for false', async () => {
  const { client, streamId } = await opened();
  const headers = headersOver(streamProofPath({ streamId, cancelOnDisconnect: false }));
  expect(await isProven(client, { headers })).toBe(true);
});

test('a captured frame opens no other connection, and takes no other option', async () => {
  const owner = await opened();
  const proof = { streamId: owner.streamId, cancelOnDisconnect: false };
  const headers = headersOver(streamProofPath(proof));
  const thief = await opened();
  expect(await isProven(thief.client, { headers, cancel_on_disconnect: false })).toBe(false);
  expect(await isProven(owner.client, { headers, cancel_on_disconnect: true })).toBe(false);
  expect(world.held).toBe(0);
});

test('a proof over the path alone opens nothing', async () => {
  const { client } = await opened();
  expect(await isProven(client, { headers: headersOver('/v1/stream') })).toBe(false);
});
