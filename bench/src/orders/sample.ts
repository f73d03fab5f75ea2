import { createHash } from 'node:crypto';
import { buildOrder, signedHeaders, walletFromPrivateKey } from '@pm/client';
import { deriveKey } from '@pm/domain/accounts/derive-keys';
import {
  type ApiKeyTrio,
  type OrderSubmission,
  ordersPerRequestMax,
} from '@pm/schemas/http/trading';
import { tokenIdFromBytes } from '@pm/schemas/ids';
import type { CatalogMarket } from '@pm/schemas/log/catalog';
import type { SigningDomain } from '@pm/schemas/signing';

/** A request of POST /orders as it arrives. */
export interface SampleBatch {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

/** A request, and the facts of its sender that a checker may use. */
export interface SampleRequest {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
  readonly address: `0x${string}`;
  readonly secret: Buffer;
  readonly passphrase: string;
  readonly submission: OrderSubmission;
}

const requestCount = 256;
const walletCount = 16;
/** Secret of the keys of the sample. */
export const sampleSecret = Buffer.alloc(32, 7);

function hash(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}

/** The one market of the sample; only the fields of the checks have a meaning. */
export const sampleMarket = {
  kind: 'CatalogMarket',
  market: 1,
  conditionId: hash('condition'),
  token0: hash('token 0'),
  token1: hash('token 1'),
  tick: 10,
  minSizeMicro: 5_000_000,
  feeRateBps: 200,
  negRisk: false,
  active: true,
  closed: false,
  archived: false,
  mode: 'OPEN',
  takerDelayMs: 0,
  payout0: -1,
  partition: 0,
} as unknown as CatalogMarket;

const sampleTokens = [sampleMarket.token0, sampleMarket.token1].map(tokenIdFromBytes);

/** Signing domain of the orders of the sample. */
export const sampleDomain: SigningDomain = {
  name: 'Prediction Exchange',
  version: '2',
  chainId: 137,
  exchange: `0x${'5a'.repeat(20)}`,
  negRiskExchange: `0x${'5b'.repeat(20)}`,
};

/** The orders of one wallet, up to fifteen per request, with one signature per request. */
export function sampleBatches(requests: readonly SampleRequest[], nowMs: number): SampleBatch[] {
  const owners = new Map(requests.map((request) => [request.submission.owner, request]));
  return [...owners.values()].map(({ address, secret, passphrase, submission: { owner } }) => {
    const own = requests.filter(({ submission }) => submission.owner === owner);
    const body = JSON.stringify(own.slice(0, ordersPerRequestMax).map((one) => one.submission));
    const key = { apiKey: owner, secret: secret.toString('base64url'), passphrase, address };
    const headers = signedHeaders(key, { method: 'POST', path: '/orders', body }, nowMs);
    return { headers: lowerNames(headers), body: Buffer.from(body) };
  });
}

function lowerNames(headers: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]),
  );
}

/** Signed single orders of several wallets under one domain, made ahead of time. */
export function sampleRequests(nowMs: number): SampleRequest[] {
  const wallets = Array.from({ length: walletCount }, (_, index) => {
    const signer = walletFromPrivateKey(`0x${hash(`bench key ${index}`).toString('hex')}`);
    const derived = deriveKey(sampleSecret, { wallet: signer.address, nonce: '0' });
    return { signer, derived };
  });
  return Array.from({ length: requestCount }, (_, index) => {
    const wallet = wallets[index % walletCount];
    if (wallet === undefined) throw new RangeError('there are wallets');
    const { signer, derived } = wallet;
    const { submission } = buildOrder(
      {
        tokenId: sampleTokens[index % 2] ?? '',
        side: index % 3 === 0 ? 'SELL' : 'BUY',
        price: `0.${String(100 + (index % 800))}`,
        size: String(5 + index),
      },
      { signer, domain: sampleDomain, negRisk: false, owner: derived.apiKey, nowMs },
    );
    const body = JSON.stringify(submission);
    const { apiKey, secret, passphrase } = derived;
    const trio: ApiKeyTrio = { apiKey, secret: secret.toString('base64url'), passphrase };
    const headers = signedHeaders(
      { ...trio, address: signer.checksummed },
      { method: 'POST', path: '/order', body },
      nowMs,
    );
    return {
      headers: lowerNames(headers),
      body: Buffer.from(body),
      address: signer.address as `0x${string}`,
      secret,
      passphrase,
      submission,
    };
  });
}
