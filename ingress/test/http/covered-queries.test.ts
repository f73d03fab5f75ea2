import type { WalletAddress } from '@pm/schemas/ids';
import { usedProofLimits } from '@pm/schemas/redis/keys';
import type { RouteDeclaration } from '@pm/schemas/routes/route';
import { routes } from '@pm/schemas/routes/routes';
import { carriesOut } from '../hostile-fixture.ts';
import {
  call,
  type IngressUnderTest,
  nowSeconds,
  openIngress,
  owner,
  type SentRequest,
  trioIn,
} from '../ingress-fixture.ts';
import { ask, attestation } from '../keys-fixture.ts';
import { ProofMemory } from '../proofs-fixture.ts';
import { nameOf, writeRouteOf, writeRoutes } from '../write-routes-fixture.ts';

let ingress: IngressUnderTest;
let proofs: ProofMemory;

beforeEach(async () => {
  proofs = new ProofMemory();
  ingress = await openIngress(undefined, 0, undefined, undefined, undefined, proofs);
  ingress.fakes.answer = carriesOut;
});
afterEach(() => ingress.app.close());

const declared = (routes as readonly RouteDeclaration[]).filter(
  ({ service, method, query }) => service === 'ingress' && method !== 'GET' && query !== undefined,
);
const counting = declared.filter(({ uncoveredQuery }) => uncoveredQuery === true).map(nameOf);
const covered = writeRoutes.filter(
  (route) => writeRouteOf(route).query !== undefined && !counting.includes(nameOf(route)),
);

function sentTo(
  route: (typeof writeRoutes)[number],
): SentRequest & { readonly signedPath: string } {
  const url = `${route.path}?${writeRouteOf(route).query}`;
  return { method: route.method, url, signedPath: route.path };
}

test('every write route with a query is tried, and the query of one counts unsigned', () => {
  expect(declared.map(nameOf).sort()).toEqual([...covered.map(nameOf), ...counting].sort());
  expect(counting).toEqual(['DELETE /notifications']);
});

test.each(covered)(
  '$method $path refuses a query that its signature does not cover',
  async (route) => {
    expect(await call(ingress, sentTo(route))).toMatchObject({
      status: 400,
      body: { code: 'argument_not_signed' },
    });
    expect(ingress.fakes.sent).toHaveLength(0);
    expect(ingress.keys.list(owner.address as never, 'TRADING')).toMatchObject([{ active: true }]);
  },
);

test.each(covered)(
  '$method $path, refused for its query, does nothing without it, however soon',
  async (route) => {
    const { apiKey } = trioIn(await ingress.keys.createBuilder(owner.address as WalletAddress));
    const sent = { ...sentTo(route), timestamp: String(nowSeconds) };
    expect((await call(ingress, sent)).status).toBe(400);
    const cut = await call(ingress, { ...sent, url: route.path });
    expect(cut.status).toBeGreaterThanOrEqual(400);
    expect(ingress.fakes.sent).toHaveLength(0);
    const kept = (['TRADING', 'BUILDER'] as const).flatMap((kind) =>
      ingress.keys.list(owner.address as WalletAddress, kind),
    );
    expect(kept.map((key) => [key.apiKey, key.active])).toEqual([
      [ingress.trio.apiKey, true],
      [apiKey, true],
    ]);
  },
);

test.each(covered)(
  '$method $path takes a signed query, and no other party can cut it',
  async (route) => {
    const sent = { ...sentTo(route), timestamp: String(nowSeconds) };
    const signedPath = sent.url;
    const cut = await call(ingress, { ...sent, url: route.path, signedPath });
    expect(cut.status).toBe(401);
    const whole = await call(ingress, { ...sent, signedPath });
    expect(whole.body.code).not.toBe('argument_not_signed');
    expect(whole.status).not.toBe(401);
  },
);

test('the signature of a wallet names its nonce alone: an API key beside it is refused', async () => {
  const headers = attestation(owner);
  const apiKey = ingress.trio.apiKey;
  for (const sent of [
    { url: `/auth/api-key?apiKey=${apiKey}` },
    { body: JSON.stringify({ apiKey }) },
  ])
    expect(
      await ask(ingress, { method: 'DELETE', url: '/auth/api-key', ...sent, headers }),
    ).toMatchObject({ status: 400, body: { code: 'argument_not_signed' } });
  expect(ingress.keys.list(owner.address as never, 'TRADING')).toMatchObject([{ active: true }]);
});

test('a captured deletion of notifications marks others for two seconds and not later', async () => {
  const sent = {
    method: 'DELETE',
    url: '/notifications?ids=1',
    timestamp: String(nowSeconds),
  } as const;
  expect((await call(ingress, sent)).status).toBe(200);
  proofs.nowMs += usedProofLimits.graceMs + 1;
  const other = await call(ingress, { ...sent, url: '/notifications?ids=2' });
  expect(other).toMatchObject({ status: 409, body: { code: 'request_repeated' } });
});
