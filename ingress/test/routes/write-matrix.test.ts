import { type HttpRoute, headers as names, routes, type WalletAddress } from '@pm/schemas';
import { type Door, openDoor, type SentRequest } from '../door-fixture.ts';
import { ask, attestation, join } from '../keys-fixture.ts';
import { walletOf } from '../wallet-fixture.ts';

/** Routes of the write door that change something, each with a body of its shape or none. */
const writes = (routes as readonly HttpRoute[]).filter(
  ({ door, method }) => door === 'ingress' && method !== 'GET',
);
/** Proven by the wallet's signature: no key has to be known yet. */
const byWallet = new Set(['POST /auth/api-key']);

let door: Door;
let mine: Awaited<ReturnType<typeof join>>;
let other: Awaited<ReturnType<typeof join>>;
beforeAll(async () => {
  door = await openDoor();
  mine = await join(door, walletOf(7));
  other = await join(door, walletOf(9));
});
afterAll(() => door.app.close());

const body = JSON.stringify({ owner: '', orderID: `0x${'00'.repeat(32)}` });
const sentTo = ({ method, path }: HttpRoute): SentRequest => ({
  method: method as 'POST' | 'DELETE',
  url: path.replaceAll(/:\w+/g, '00000000-0000-4000-8000-000000000000'),
  body,
});

interface Credentials {
  readonly title: string;
  /** The answer to a request with them. */
  answer(sent: SentRequest): ReturnType<typeof ask>;
}

const bare = (sent: SentRequest, headers: Record<string, string>) =>
  ask(door, { ...sent, headers });

const credentials: readonly Credentials[] = [
  { title: 'no credentials', answer: (sent) => bare(sent, {}) },
  {
    title: 'another key',
    answer: (sent) => mine.call({ ...sent, headers: { [names.apiKey]: other.trio.apiKey } }),
  },
  {
    title: 'another wallet',
    answer: (sent) => mine.call({ ...sent, headers: { [names.address]: other.wallet.address } }),
  },
  {
    title: 'a signature over another route',
    answer: (sent) => mine.call({ ...sent, signedPath: '/another' }),
  },
  {
    title: 'the key of an agent',
    answer: (sent) => bare(sent, { authorization: `Bearer pro_${'a'.repeat(32)}` }),
  },
  {
    title: 'the signature of another wallet',
    answer: (sent) =>
      bare(sent, { ...attestation(walletOf(9)), [names.address]: walletOf(7).address }),
  },
];

describe.each(credentials)('with $title', ({ answer: answerTo }) => {
  test.each(writes)('$method $path is refused and does nothing', async (route) => {
    const answer = await answerTo(sentTo(route));
    const name = `${route.method} ${route.path}`;
    expect([name, answer.status]).toEqual([name, 401]);
    expect(answer.body).toMatchObject({ error: expect.any(String) });
    expect(answer.headers['www-authenticate']).toBeDefined();
    expect(door.fakes.sent).toHaveLength(0);
  });
});

describe('a revoked key', () => {
  test.each(writes)('is refused by $method $path', async (route) => {
    const gone = await join(door, walletOf(11));
    await door.keys.revokeNonce(walletOf(11).address as WalletAddress, '0');
    expect((await gone.call(sentTo(route))).status).toBe(401);
  });
});

describe('a banned wallet', () => {
  beforeAll(async () => {
    const desk = door.ports.walletStatus as unknown as {
      set(wallet: WalletAddress, change: object): Promise<unknown>;
    };
    const wallet = walletOf(13).address as WalletAddress;
    await desk.set(wallet, { status: 'BANNED', reason: 'a test' });
  });

  test.each(writes)('is refused by $method $path', async (route) => {
    const banned = await join(door, walletOf(13));
    const isByWallet = byWallet.has(`${route.method} ${route.path}`);
    const sent = sentTo(route);
    const answer = await (isByWallet ? bare(sent, attestation(walletOf(13))) : banned.call(sent));
    expect(answer).toMatchObject({ status: 400, body: { code: 'user_banned' } });
  });
});
