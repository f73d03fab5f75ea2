import type { WalletAddress } from '@pm/schemas/ids';
import type { RefusalCode } from '@pm/schemas/refusals';
import type { HttpRoute } from '@pm/schemas/routes/route';
import { headers as names } from '@pm/schemas/signing';
import { carriesOut } from '../hostile-fixture.ts';
import {
  type IngressUnderTest,
  nowSeconds,
  openIngress,
  type SentRequest,
  signedItem,
  testOrder,
} from '../ingress-fixture.ts';
import { ask, attestation, join } from '../keys-fixture.ts';
import { walletOf } from '../wallet-fixture.ts';
import { nameOf, writeRouteOf, writeRoutes } from '../write-routes-fixture.ts';

/**
 * Every write route with every kind of bad credentials: what it answers stands in one table, and nothing is done.
 * Routes come from the table of routes, so a new one is asked too.
 */
interface Cell {
  readonly status: number;
  readonly code?: RefusalCode;
}

interface Row {
  readonly title: string;
  answer(route: HttpRoute): Promise<Answer>;
  readonly cell: Cell;
  /** Routes that answer something else. */
  readonly but?: Readonly<Record<string, Cell>>;
}

type Answer = Awaited<ReturnType<typeof ask>>;
type Party = Awaited<ReturnType<typeof join>>;

const wallets = {
  mine: walletOf(7),
  other: walletOf(9),
  revoked: walletOf(11),
  banned: walletOf(13),
  closed: walletOf(15),
};

let ingress: IngressUnderTest;
let parties: Record<keyof typeof wallets, Party>;
let agentKeys: { readonly active: string; readonly paused: string };
let readKey: string;

beforeAll(async () => {
  ingress = await openIngress();
  ingress.fakes.answer = carriesOut;
  const entries = Object.entries(wallets).map(async ([name, wallet]) => [
    name,
    await join(ingress, wallet),
  ]);
  parties = Object.fromEntries(await Promise.all(entries)) as typeof parties;
  await ingress.keys.revokeNonce(addressOf('revoked'), '0');
  readKey = String(await ingress.services.accounts.readOnlyKeys.create(addressOf('mine')));
  agentKeys = { active: await agentOf('active', false), paused: await agentOf('paused', true) };
  await setStatus('banned', 'BANNED');
  await setStatus('closed', 'CLOSED_ONLY');
});
afterAll(() => ingress.app.close());

const addressOf = (name: keyof typeof wallets) => wallets[name].address as WalletAddress;

async function agentOf(name: string, isPaused: boolean): Promise<string> {
  const made = await ingress.services.accounts.agents.create(addressOf('mine'), name);
  if ('max' in made) throw new Error('there is room for an agent');
  if (isPaused)
    await ingress.services.accounts.agents.setStatus(addressOf('mine'), made.agent.id, 'PAUSED');
  return made.key;
}

async function setStatus(name: keyof typeof wallets, status: 'BANNED' | 'CLOSED_ONLY') {
  await ingress.stores.statusWriter.set(addressOf(name), { status, reason: 'a test' });
}

/** Requests that would be carried out if their caller were allowed to. */
function sentTo(route: HttpRoute, name: keyof typeof wallets): SentRequest {
  const wallet = wallets[name];
  const mine = { maker: wallet.address, signer: wallet.address };
  const item = {
    ...signedItem(testOrder(mine), {}, wallet).item,
    owner: parties[name].trio.apiKey,
  };
  const { sample, body: schema, query } = writeRouteOf(route);
  const isBatch = schema !== null && 'items' in schema;
  const isOrder = nameOf(route).startsWith('POST /order');
  const value = isOrder ? (isBatch ? [item] : item) : sample?.({ readKey, orders: [] });
  const url = `${route.path.replaceAll(/:\w+/g, '1')}${query === undefined ? '' : `?${query}`}`;
  return {
    method: route.method,
    url,
    signedPath: url,
    body: JSON.stringify(value ?? {}),
  };
}

const signed =
  (party: keyof typeof wallets, more: Partial<SentRequest> = {}) =>
  (route: HttpRoute) =>
    parties[party].call({ ...sentTo(route, party), ...more });
const bare = (headers: () => Record<string, string>) => (route: HttpRoute) =>
  ask(ingress, { ...sentTo(route, 'mine'), headers: headers() });

/** Proven by the wallet's signature alone: keys of any kind are not looked at. */
const byWallet = 'POST /auth/api-key';
const unproven: Cell = { status: 401 };

/** One row per kind of credentials. */
const matrix: readonly Row[] = [
  { title: 'no credentials', answer: bare(() => ({})), cell: unproven },
  {
    title: 'a signature over another route',
    answer: signed('mine', { signedPath: '/another' }),
    cell: unproven,
  },
  {
    title: 'a signature that is none',
    answer: signed('mine', { headers: { [names.signature]: 'A'.repeat(43) } }),
    cell: unproven,
  },
  {
    title: 'the key of another',
    answer: (route) =>
      signed('mine', { headers: { [names.apiKey]: parties.other.trio.apiKey } })(route),
    cell: unproven,
  },
  {
    title: 'the wallet of another',
    answer: signed('mine', { headers: { [names.address]: wallets.other.address } }),
    cell: unproven,
  },
  {
    title: 'the attestation of another wallet',
    answer: bare(() => ({ ...attestation(wallets.other), [names.address]: wallets.mine.address })),
    cell: unproven,
  },
  {
    title: 'a read-only key',
    answer: bare(() => ({ [names.address]: wallets.mine.address, [names.readOnlyKey]: readKey })),
    cell: { status: 403, code: 'read_only_key' },
    but: { [byWallet]: unproven, 'DELETE /auth/api-key': unproven },
  },
  {
    title: 'the key of an agent',
    answer: bare(() => ({ authorization: `Bearer ${agentKeys.active}` })),
    cell: unproven,
  },
  {
    title: 'the key of a paused agent',
    answer: bare(() => ({ authorization: `Bearer ${agentKeys.paused}` })),
    cell: unproven,
  },
  { title: 'a revoked key', answer: signed('revoked'), cell: unproven },
  {
    title: 'a clock that is off',
    answer: (route) =>
      nameOf(route) === byWallet
        ? bare(() => attestation(wallets.mine, { seconds: nowSeconds - 301 }))(route)
        : signed('mine', { headers: { [names.timestamp]: String(nowSeconds - 301) } })(route),
    cell: { status: 401, code: 'timestamp_skew' },
  },
  {
    title: 'a banned wallet',
    answer: (route) =>
      nameOf(route) === byWallet
        ? bare(() => attestation(wallets.banned))(route)
        : signed('banned')(route),
    cell: { status: 400, code: 'user_banned' },
  },
];

describe.each(matrix)('with $title', ({ answer: answerTo, cell, but = {} }) => {
  test.each(writeRoutes)('$method $path is refused and does nothing', async (route) => {
    const answer = await answerTo(route);
    const name = nameOf(route);
    const { status, code } = but[name] ?? cell;
    expect([name, answer.status]).toEqual([name, status]);
    expect(answer.body).toMatchObject({
      error: expect.any(String),
      ...(code === undefined ? {} : { code }),
      ...(route.family === 'gamma' ? { type: 'bad request' } : {}),
    });
    if (status === 401) expect(answer.headers['www-authenticate']).toBeDefined();
    expect(ingress.fakes.sent).toHaveLength(0);
    expect(ingress.fakes.transfers).toHaveLength(0);
  });
});

/** Routes that refuse a wallet which may only close its positions; all other routes treat it like any wallet. */
const closedOnly: Readonly<Record<string, Cell>> = {
  'POST /order': { status: 400, code: 'closed_only' },
  'POST /orders': { status: 200, code: 'closed_only' },
  'POST /orders/validate': { status: 200, code: 'closed_only' },
  'POST /account/split': { status: 400, code: 'closed_only' },
};

/** Not the ones that take away what the others need: the key, and the comment that was made meanwhile. */
const lasting = writeRoutes.filter(
  (route) => !['DELETE /auth/api-key', 'DELETE /comments/:id'].includes(nameOf(route)),
);

describe('with a wallet that may only close positions', () => {
  test.each(lasting)(
    '$method $path answers as to anybody, but for what opens positions',
    async (route) => {
      const isByWallet = nameOf(route) === byWallet;
      const to = (name: 'closed' | 'other') =>
        isByWallet ? bare(() => attestation(wallets[name]))(route) : signed(name)(route);
      const [closed, anybody] = [await to('closed'), await to('other')];
      const [first] = [closed.body].flat() as readonly { readonly code?: string }[];
      const name = nameOf(route);
      const { status, code } = closedOnly[name] ?? { status: anybody.status };
      expect([name, closed.status, first?.code === 'closed_only']).toEqual([
        name,
        status,
        code === 'closed_only',
      ]);
    },
  );
});
