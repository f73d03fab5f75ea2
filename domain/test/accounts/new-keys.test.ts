import { openHttp } from '@pm/kit/http';
import { silentLog } from '@pm/kit/log';
import { apiKeyBytes, hexBytes, type WalletAddress } from '@pm/schemas/ids';
import { headers as names } from '@pm/schemas/signing';
import { AgentDirectory } from '../../src/accounts/agent-directory.ts';
import { agentKeyFrom } from '../../src/accounts/agent-key.ts';
import { deriveKey } from '../../src/accounts/derive-keys.ts';
import { KeyDirectory } from '../../src/accounts/key-directory.ts';
import { awaitNewKeys } from '../../src/accounts/new-keys.io.ts';
import { ReadKeyDirectory } from '../../src/accounts/read-key-directory.ts';

const wallet = `0x${'11'.repeat(20)}` as WalletAddress;
const { apiKey } = deriveKey(Buffer.alloc(32, 7), { wallet, nonce: '0' });
const agentKey = agentKeyFrom(Buffer.alloc(24, 3));

/** A listener that says whether the key of a request is known when its route runs. */
async function openListener() {
  const known = {
    keys: new KeyDirectory(),
    readKeys: new ReadKeyDirectory(),
    agents: new AgentDirectory(),
  };
  const world = { known, settled: 0, arriving: () => {} };
  const app = openHttp({ log: silentLog, bodyLimitBytes: 1_000 });
  awaitNewKeys(app, {
    known,
    settle: async () => {
      world.settled += 1;
      await new Promise((resolve) => setTimeout(resolve, 5));
      world.arriving();
    },
  });
  app.get('/known', async () => ({ known: known.keys.find(apiKey) !== undefined }));
  await app.ready();
  const ask = async (headers: Record<string, string>) =>
    (await app.inject({ url: '/known', headers })).json() as unknown;
  return { world, ask };
}

function listKey(keys: KeyDirectory): void {
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
}

test('a request with a key that has just been given out waits until it is known, later ones do not', async () => {
  const { world, ask } = await openListener();
  world.arriving = () => listKey(world.known.keys);
  expect(await ask({ [names.apiKey]: apiKey })).toEqual({ known: true });
  expect(await ask({ [names.apiKey]: apiKey })).toEqual({ known: true });
  expect(world.settled).toBe(1);
});

test.each([
  ['a key of a builder', { [names.builderApiKey]: apiKey }],
  ['a read-only key', { [names.readOnlyKey]: apiKey }],
  ['the key of an agent', { authorization: `Bearer ${agentKey}` }],
])('%s that is not known is looked for, and the request goes on without it', async (_, headers) => {
  const { world, ask } = await openListener();
  expect(await ask(headers)).toEqual({ known: false });
  expect(world.settled).toBe(1);
});

test('requests without a well-formed key do not wait', async () => {
  const { world, ask } = await openListener();
  await ask({});
  await ask({ [names.apiKey]: 'not a key', authorization: 'Bearer something' });
  await ask({ [names.readOnlyKey]: '', [names.address]: wallet });
  expect(world.settled).toBe(0);
});
