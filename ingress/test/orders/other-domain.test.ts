import type { WalletAddress } from '@pm/schemas/ids';
import { refusalText } from '@pm/schemas/refusals';
import { familyDomains, type L1Purpose, type SigningDomain } from '@pm/schemas/signing';
import { testDomain } from '../../../kit/test/signing-domain.ts';
import {
  call,
  type IngressUnderTest,
  nowSeconds,
  openIngress,
  owner,
  placeOne,
  signedItem,
  testOrder,
} from '../ingress-fixture.ts';
import { ask, attestation } from '../keys-fixture.ts';

// An installation without a demo: it accepts signatures for its own domain only.
const [family] = familyDomains as readonly [SigningDomain];
const stranger = { ...testDomain, exchange: `0x${'6a'.repeat(20)}` };
let ingress: IngressUnderTest;

beforeAll(async () => {
  const all = [undefined, undefined, undefined, undefined, undefined, undefined] as const;
  ingress = await openIngress(...all, { own: testDomain, family: [] });
});
afterAll(() => ingress.app.close());

const signedFor = (domain: SigningDomain) => signedItem(testOrder(), {}, owner, domain).item;
const wrappedFor = (domain: SigningDomain) => {
  const signed = { maker: owner.address, signer: owner.address, signatureType: 3 };
  return signedItem(testOrder(signed), {}, owner, domain).item;
};
const own = (item: object) => ({ ...item, owner: ingress.trio.apiKey });

test('an order for the domain of the installation is placed under the id that it has there', async () => {
  const { item, hash } = signedItem(testOrder());
  expect((await placeOne(ingress, own(item))).body).toMatchObject({ success: true, orderID: hash });
});

test.each([
  ['the API family', () => signedFor(family), 'other_signing_domain'],
  ['the API family, wrapped', () => wrappedFor(family), 'other_signing_domain'],
  ['another installation', () => signedFor(stranger), 'invalid_signature'],
  ['another installation, wrapped', () => wrappedFor(stranger), 'other_signing_domain'],
] as const)('an order signed for %s is refused', async (_what, item, code) => {
  const sent = ingress.fakes.sent.length;
  const { status, body } = await placeOne(ingress, own(item()));
  expect([status, body.code, body.errorMsg]).toEqual([400, code, refusalText(code)]);
  expect(ingress.fakes.sent).toHaveLength(sent);
});

test('the dry run names the domain that an order was signed for, and that it is not accepted', async () => {
  const body = JSON.stringify([own(signedFor(family))]);
  const answer = await call(ingress, { method: 'POST', url: '/orders/validate', body });
  const [finding] = answer.body;
  expect(finding).toMatchObject({ valid: false, code: 'other_signing_domain', orderID: '' });
  const { domains } = finding.signature;
  expect(domains.map((one: { accepted: boolean }) => one.accepted)).toEqual([
    true,
    ...familyDomains.map(() => false),
  ]);
  expect(domains.filter((one: { matches: boolean }) => one.matches)).toMatchObject([
    { name: family.name, verifyingContract: family.exchange, accepted: false },
  ]);
});

test('a wallet proves itself for the domain of the installation only', async () => {
  const prove = (headers: Record<string, string>) =>
    ask(ingress, { method: 'POST', url: '/auth/api-key', headers });
  const verifyingContract = testDomain.exchange;
  const purpose = 'create';
  const good = attestation(owner, { nonce: '7', verifyingContract, purpose });
  expect((await prove(good)).status).toBe(200);
  const error = refusalText('invalid_l1');
  const foreign = await prove(attestation(owner, { nonce: '8' }));
  expect(foreign).toMatchObject({ status: 401, body: { error, code: 'other_signing_domain' } });
  const other = await prove(attestation(owner, { verifyingContract: stranger.exchange, purpose }));
  expect([other.status, other.body]).toEqual([401, { error }]);
  const late = attestation(owner, { seconds: nowSeconds - 400 });
  expect((await prove(late)).body).toMatchObject({ code: 'timestamp_skew' });
});

const create = { method: 'POST', url: '/auth/api-key' } as const;
const derive = { method: 'GET', url: '/auth/derive-api-key' } as const;
const list = { method: 'GET', url: '/auth/api-keys' } as const;
const revoke = { method: 'DELETE', url: '/auth/api-key' } as const;
type Route = typeof create | typeof derive | typeof list | typeof revoke;
const routesByPurpose: Readonly<Record<L1Purpose, readonly Route[]>> = {
  create: [create, derive],
  list: [list],
  revoke: [revoke],
};
const purposes = ['create', 'list', 'revoke'] as const satisfies readonly L1Purpose[];
const verifyingContract = testDomain.exchange;
let nonces = 100;
/** A proof with a nonce of its own, which has a key. */
const proofFor = async (purpose?: L1Purpose) => {
  nonces += 1;
  const nonce = String(nonces);
  await ingress.keys.create(owner.address as WalletAddress, nonce);
  return attestation(owner, { nonce, verifyingContract, ...(purpose && { purpose }) });
};

describe("a wallet's own signature in the domain of the installation", () => {
  it.each(purposes)(
    'to %s is taken by the routes of its purpose and by no other',
    async (named) => {
      for (const purpose of purposes)
        for (const route of routesByPurpose[purpose]) {
          const { status, body } = await ask(ingress, { ...route, headers: await proofFor(named) });
          const refused = [401, { error: refusalText('invalid_l1') }];
          if (purpose === named) expect(status).toBe(200);
          else expect([status, body]).toEqual(refused);
        }
    },
  );

  it("with the family's message, which names no purpose, opens nothing", async () => {
    for (const route of purposes.flatMap((purpose) => routesByPurpose[purpose])) {
      const { status } = await ask(ingress, { ...route, headers: await proofFor() });
      expect(status).toBe(401);
    }
  });

  it('shows the secret of a key once, by whatever route', async () => {
    const headers = await proofFor('create');
    expect((await ask(ingress, { ...create, headers })).status).toBe(200);
    for (const route of [create, derive]) {
      const again = await ask(ingress, { ...route, headers });
      expect([again.status, again.body]).toMatchObject([409, { code: 'request_repeated' }]);
    }
  });

  it('is used up by a lookup that finds no key: who captured it makes none', async () => {
    const headers = attestation(owner, { nonce: '99', verifyingContract, purpose: 'create' });
    expect((await ask(ingress, { ...derive, headers })).status).toBe(404);
    const captured = await ask(ingress, { ...create, headers });
    expect([captured.status, captured.body]).toMatchObject([409, { code: 'request_repeated' }]);
  });

  it('to revoke, refused for a key beside it, revokes none without it', async () => {
    const headers = await proofFor('revoke');
    const url = `${revoke.url}?apiKey=${ingress.trio.apiKey}`;
    const refused = await ask(ingress, { ...revoke, url, headers });
    expect([refused.status, refused.body]).toMatchObject([400, { code: 'argument_not_signed' }]);
    const cut = await ask(ingress, { ...revoke, headers });
    expect([cut.status, cut.body]).toMatchObject([409, { code: 'request_repeated' }]);
  });

  it('shows no secret while used ones cannot be noted, and revokes all the same', async () => {
    const sent = [await proofFor('create'), await proofFor('revoke')] as const;
    ingress.proofs.isAway = true;
    const refused = await ask(ingress, { ...create, headers: sent[0] });
    expect([refused.status, refused.body]).toMatchObject([503, { code: 'proofs_unavailable' }]);
    expect((await ask(ingress, { ...revoke, headers: sent[1] })).status).toBe(200);
    ingress.proofs.isAway = false;
  });
});
