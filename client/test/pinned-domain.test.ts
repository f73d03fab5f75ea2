import { familyDomains, type SigningDomain } from '@pm/schemas/signing';
import { testDomain } from '../../kit/test/signing-domain.ts';
import { ExchangeClient, SigningDomainError, walletFromPrivateKey } from '../src/index.ts';
import { FakeExchange } from './fake-exchange.ts';

const signer = walletFromPrivateKey(`0x${'11'.repeat(32)}`);
const retry = { firstPauseMs: 2, longestPauseMs: 10, totalMs: 2_000 };
const intent = { tokenId: '7', side: 'BUY', price: '0.5', size: '10' } as const;
const otherDomain = { ...testDomain, exchange: `0x${'6a'.repeat(20)}` };
const [familyDomain] = familyDomains as readonly [SigningDomain];

let fake: FakeExchange;
beforeEach(async () => {
  fake = await FakeExchange.open();
});
afterEach(() => fake.close());

const publish = (domain: SigningDomain) => {
  fake.domain = { ...domain, familyDomains: [] };
};
const open = (domain?: SigningDomain) =>
  new ExchangeClient({
    baseUrl: fake.baseUrl,
    signer,
    retry,
    ...(domain === undefined ? {} : { domain }),
  });

test('a fetched domain stays when the exchange publishes another', async () => {
  const client = open();
  await client.connect();
  await client.verifySigningDomain();
  publish(otherDomain);
  const { orderID } = await client.placeOrder(intent);
  // The fake computes ids by its first domain.
  expect(fake.booked.has(orderID)).toBe(true);
  expect(await client.signingDomain()).toEqual(testDomain);
  await expect(client.verifySigningDomain()).rejects.toThrow('publishes the signing domain');
  expect(await open().signingDomain()).toEqual(otherDomain);
});

test('a given domain is signed for whatever the exchange publishes', async () => {
  publish(otherDomain);
  const client = open(testDomain);
  await client.connect();
  const { orderId } = await client.prepareOrder(intent);
  expect((await client.placeOrder(intent)).success).toBe(true);
  expect(orderId).toMatch(/^0x[0-9a-f]{64}$/);
  expect(await client.signingDomain()).toEqual(testDomain);
  await expect(client.verifySigningDomain()).rejects.toThrow(SigningDomainError);
});

test('nothing is signed for a domain that other exchanges share, fetched or given', async () => {
  publish({ ...familyDomain, exchange: familyDomain.exchange.toUpperCase().replace('0X', '0x') });
  const client = open();
  await expect(client.connect()).rejects.toThrow(SigningDomainError);
  await expect(open(familyDomain).connect()).rejects.toThrow('at other exchanges');
  publish(testDomain);
  await client.connect();
});
