import { createHmac } from 'node:crypto';
import { apiKeyBytes, hexBytes, parseWalletAddress, type WalletAddress } from '@pm/schemas/ids';
import type { Credential } from '@pm/schemas/log/accounts';
import { deriveKey, deriveReadKey, trioOf } from '../../src/accounts/derive-keys.ts';
import { claimsKey, readKeyClaim } from '../../src/accounts/key-claim.ts';
import { KeyDirectory } from '../../src/accounts/key-directory.ts';
import { hashOfKey } from '../../src/accounts/key-hash.ts';
import {
  clockSkewMs,
  openCredentialsVerifier,
  openKeyVerifier,
} from '../../src/accounts/key-verifier.ts';
import { ReadKeyDirectory } from '../../src/accounts/read-key-directory.ts';
import { openReaderVerifier } from '../../src/accounts/reader-verifier.ts';
import { coverageOf, signedForms, signedPaths } from '../../src/accounts/request-hmac.ts';

const serverSecret = Buffer.alloc(32, 7);
const secrets = { present: serverSecret, others: [] };
const freshness = { secondsMs: 300_000, millisecondsMs: 30_000 };
const wallet = parseWalletAddress(`0x${'12'.repeat(20)}`) as WalletAddress;
const other = parseWalletAddress(`0x${'34'.repeat(20)}`) as WalletAddress;
const nowMs = 1_782_753_357_000;
const key = deriveKey(serverSecret, { wallet, nonce: '0' });
const noBytes = Buffer.alloc(0);

const credential = (changes: Partial<Credential> = {}): Credential => ({
  apiKey: apiKeyBytes(key.apiKey),
  wallet: hexBytes(wallet),
  nonce: '0',
  version: -1,
  active: true,
  createdAtMs: 1,
  revokedAtMs: 0,
  keyKind: 'TRADING',
  selfTrade: 'CANCEL_NEWEST',
  ...changes,
});

function open(changes: Partial<Credential> = {}) {
  const keys = new KeyDirectory();
  keys.apply(credential(changes));
  return openKeyVerifier({ keys, secrets, freshness, nowMs: () => nowMs });
}

interface Signing {
  readonly url?: string;
  readonly path?: string;
  readonly timestamp?: string;
  readonly body?: Buffer;
  readonly encoding?: 'base64' | 'base64url' | 'hex';
}

function signed({
  url = '/data/trades?market=1',
  path = '/data/trades',
  timestamp = '1782753357',
  body = noBytes,
  encoding = 'base64',
}: Signing = {}) {
  const signature = createHmac('sha256', key.secret)
    .update(`${timestamp}GET${path}`)
    .update(body)
    .digest(encoding);
  const headers: Record<string, string> = {
    service_address: wallet,
    service_api_key: key.apiKey,
    service_passphrase: key.passphrase,
    service_timestamp: timestamp,
    service_signature: signature,
  };
  return { method: 'GET', url, headers, body };
}

describe('the proof of an API key', () => {
  it('knows the published vector', () => {
    const digest = Buffer.from('ZwAdJKvoYRlEKDkNMwd5BuwNNtg93kNaR_oU2HrfVvc=', 'base64url');
    const request = { method: 'test-sign', url: '/orders', body: Buffer.from('{"hash": "0x123"}') };
    const claim = { timestamp: '1000000', digest };
    for (const idempotencyKey of ['', 'any'])
      expect(coverageOf(Buffer.alloc(32), claim, { ...request, idempotencyKey })).toEqual({
        exactBody: true,
        idempotencyKey: false,
        query: true,
      });
  });

  it.each<[string, Signing]>([
    ['padded base64', {}],
    ['base64url', { encoding: 'base64url' }],
    ['hex', { encoding: 'hex' }],
    ['milliseconds', { timestamp: '1782753357123' }],
    ['a mount in the path', { url: '/clob/data/trades', path: '/clob/data/trades' }],
    ['a mount left out', { url: '/clob/data/trades?x=1' }],
    ['the query too', { path: '/data/trades?market=1' }],
    ['the edge of the window', { timestamp: String(1_782_753_357 - 300) }],
  ])('takes %s', (_title, signing) => {
    expect(open()(signed(signing))).toMatchObject({ apiKey: key.apiKey, wallet });
  });

  it('takes a body whose quotes were signed as double quotes', () => {
    const request = signed({ body: Buffer.from('{"a":"it"s"}') });
    const other = open()({ ...request, body: Buffer.from(`{'a':'it's'}`) });
    expect(other?.covers.exactBody).toBe(false);
    expect(open()(request)?.covers.exactBody).toBe(true);
  });

  it('says whether the signature covers the idempotency key', () => {
    const body = Buffer.from('{"amount":"5"}');
    const plain = signed({ body });
    const covering = signed({ body: Buffer.concat([body, Buffer.from('\nmy-key')]) });
    const withKey = (request: typeof plain, value: string) =>
      open()({ ...request, body, headers: { ...request.headers, 'idempotency-key': value } });
    expect(withKey(plain, 'my-key')?.covers.idempotencyKey).toBe(false);
    expect(withKey(covering, 'my-key')?.covers.idempotencyKey).toBe(true);
    expect(withKey(covering, 'my-kez')).toBeNull();
    expect(open()({ ...covering, body })).toBeNull();
  });

  it.each<[string, boolean, Signing]>([
    ['a path without a query', true, { url: '/data/trades' }],
    ['a path alone', false, { url: '/data/trades?x=1', path: '/data/trades' }],
    ['a path without its mount', false, { url: '/clob/data/trades?x=1', path: '/data/trades' }],
    ['a path with its query', true, { url: '/data/trades?x=1', path: '/data/trades?x=1' }],
    ['that without its mount', true, { url: '/clob/data/trades?x=1', path: '/data/trades?x=1' }],
  ])('says whether the signature of %s covers the query: %s', (_title, query, signing) => {
    expect(open()(signed(signing))?.covers.query).toBe(query);
  });

  it('takes any case of the address', () => {
    const request = signed();
    const headers = {
      ...request.headers,
      service_address: wallet.toUpperCase().replace('0X', '0x'),
    };
    expect(open()({ ...request, headers })).not.toBeNull();
  });

  it.each([
    'service_address',
    'service_api_key',
    'service_passphrase',
    'service_timestamp',
    'service_signature',
  ])('refuses without %s', (name) => {
    const { [name]: _left, ...headers } = signed().headers;
    expect(open()({ ...signed(), headers })).toBeNull();
  });

  it.each<[string, Record<string, string | string[]>]>([
    ['another wallet', { service_address: other }],
    ['another key', { service_api_key: '00000000-0000-4000-8000-000000000000' }],
    ['another passphrase', { service_passphrase: '0'.repeat(64) }],
    ['another time', { service_timestamp: '1782753358' }],
    ['a repeated header', { service_address: [wallet, wallet] }],
    ['another digest', { service_signature: Buffer.alloc(32).toString('base64') }],
    ['no digest', { service_signature: 'abc' }],
    ['a hexadecimal time', { service_timestamp: '0x5' }],
  ])('refuses %s', (_title, changes) => {
    const request = signed();
    expect(open()({ ...request, headers: { ...request.headers, ...changes } })).toBeNull();
  });

  it('refuses what is too old, too new, of another method or path', () => {
    expect(open()(signed({ timestamp: String(1_782_753_357 - 301) }))).toBeNull();
    expect(open()(signed({ timestamp: String(1_782_753_357 + 301) }))).toBeNull();
    expect(open()({ ...signed(), method: 'POST' })).toBeNull();
    expect(open()({ ...signed(), url: '/data/order/1' })).toBeNull();
  });

  it('refuses a revoked key and one that moved to another wallet', () => {
    expect(open({ active: false })(signed())).toBeNull();
    expect(open({ wallet: hexBytes(other) })(signed())).toBeNull();
  });
});

describe('a listed key', () => {
  it('that the server’s secret does not derive proves nothing', () => {
    const foreign = '00000000-0000-4000-8000-000000000001';
    const request = signed();
    const headers = { ...request.headers, service_api_key: foreign };
    const verify = open({ apiKey: apiKeyBytes(foreign as typeof key.apiKey) });
    expect(verify({ ...request, headers })).toBeNull();
  });

  it('is looked up with each request: revoked, made active by a record of an earlier version, deleted', () => {
    const keys = new KeyDirectory();
    const verify = openKeyVerifier({
      keys,
      secrets,
      freshness: { secondsMs: 1_000, millisecondsMs: 1_000 },
      nowMs: () => nowMs,
    });
    expect(verify(signed())).toBeNull();
    keys.apply(credential());
    expect([verify(signed()), verify(signed())]).not.toContain(null);
    keys.apply(credential({ active: false, revokedAtMs: 2 }));
    expect(verify(signed())).toBeNull();
    keys.apply(credential({ createdAtMs: 3 }));
    expect(verify(signed())).not.toBeNull();
    keys.apply(credential({ active: false, revokedAtMs: 4 }));
    expect(keys.apply(credential({ version: 0 }))).toBe(false);
    expect(verify(signed())).toBeNull();
    keys.apply(credential({ createdAtMs: 5 }));
    keys.forget(key.apiKey);
    expect(verify(signed())).toBeNull();
    expect(keys.keysOf(wallet).has(key.apiKey)).toBe(true);
  });
});

describe('claims', () => {
  it('are made by any of the five headers', () => {
    expect(claimsKey({ host: 'x' })).toBe(false);
    expect(claimsKey({ service_timestamp: '1' })).toBe(true);
    expect(readKeyClaim({ service_timestamp: '1' })).toBeNull();
  });

  it('are tried without the mount and with the query', () => {
    const pathsOf = (url: string) => [...signedPaths(url)].map(({ path }) => path);
    expect(pathsOf('/clob/data/trades?x=1')).toEqual([
      '/clob/data/trades',
      '/data/trades',
      '/clob/data/trades?x=1',
      '/data/trades?x=1',
    ]);
    expect(pathsOf('/data/trades')).toEqual(['/data/trades']);
  });

  it('hash a body twelve times at most, and once where the passphrase is not known', () => {
    const secret = Buffer.alloc(32, 1);
    const request = { method: 'POST', url: '/clob/orders?x=1', body: Buffer.from(`['a']`) };
    const sent = { ...request, idempotencyKey: 'k' };
    const forms = [...signedForms(sent)];
    expect(forms).toHaveLength(12);
    const covered = forms.map(({ path, body }, index) => {
      const digest = createHmac('sha256', secret).update(`1POST${path}`).update(body).digest();
      const claim = { timestamp: '1', digest };
      expect(coverageOf(secret, claim, sent)).toEqual(forms[index]?.coverage);
      return coverageOf(secret, claim, { ...sent, tried: 'likeliest' }) !== null;
    });
    expect(covered).toEqual(forms.map((_form, index) => index === 0));
    const plain = { url: '/orders', body: Buffer.from('[]'), idempotencyKey: '' };
    expect([...signedForms(plain)]).toHaveLength(1);
  });
});

describe('a clock', () => {
  const limits = { nowMs, freshness };

  it('that is off is told how far, whatever the key, and before it is looked at', () => {
    const stale = signed({ timestamp: String(1_782_753_357 - 301) }).headers;
    expect(clockSkewMs(stale, limits)).toBe(-301_000);
    const unknown = { ...stale, service_api_key: '00000000-0000-4000-8000-000000000000' };
    expect(clockSkewMs(unknown, limits)).toBe(-301_000);
    expect(clockSkewMs({ ...stale, service_timestamp: '1782753958000' }, limits)).toBe(601_000);
  });

  it('that is right, or cannot be read, is no reason', () => {
    expect(clockSkewMs(signed().headers, limits)).toBeNull();
    expect(clockSkewMs({ ...signed().headers, service_timestamp: 'soon' }, limits)).toBeNull();
    expect(clockSkewMs({ service_timestamp: '5' }, limits)).toBeNull();
  });
});

describe('a key of a builder', () => {
  const builderKey = deriveKey(serverSecret, { wallet, nonce: 'builder:0' });
  const apiKey = apiKeyBytes(builderKey.apiKey);
  const keys = new KeyDirectory();
  keys.apply(credential({ apiKey, nonce: 'builder:0', keyKind: 'BUILDER' }));
  keys.apply(credential());
  const options = { keys, secrets, freshness, nowMs: () => nowMs };
  const timestamp = '1782753357';
  const signature = createHmac('sha256', builderKey.secret)
    .update(`${timestamp}GET/data/trades`)
    .digest('base64url');
  const request = { method: 'GET', url: '/data/trades', body: noBytes };
  const builderHeaders = {
    service_builder_api_key: builderKey.apiKey,
    service_builder_passphrase: builderKey.passphrase,
    service_builder_timestamp: timestamp,
    service_builder_signature: signature,
  };
  const asTrader = {
    service_address: wallet,
    service_api_key: builderKey.apiKey,
    service_passphrase: builderKey.passphrase,
    service_timestamp: timestamp,
    service_signature: signature,
  };

  it('is proven by its own four headers, and opens nothing in those of a trading key', () => {
    const verifyBuilder = openKeyVerifier({ ...options, kind: 'BUILDER' });
    expect(verifyBuilder({ ...request, headers: builderHeaders })).toMatchObject({ wallet });
    expect(openKeyVerifier(options)({ ...request, headers: builderHeaders })).toBeNull();
    expect(openKeyVerifier(options)({ ...request, headers: asTrader })).toBeNull();
  });

  it('is no key that trades', () => {
    const { headers } = signed({ url: '/data/trades', encoding: 'base64url' });
    const moved = {
      service_builder_api_key: headers['service_api_key'] ?? '',
      service_builder_passphrase: headers['service_passphrase'] ?? '',
      service_builder_timestamp: headers['service_timestamp'] ?? '',
      service_builder_signature: headers['service_signature'] ?? '',
    };
    const verifyBuilder = openKeyVerifier({ ...options, kind: 'BUILDER' });
    expect(verifyBuilder({ ...request, headers: moved })).toBeNull();
  });

  it('is listed apart', () => {
    expect(keys.listOf(wallet, 'BUILDER').map((one) => one.apiKey)).toEqual([builderKey.apiKey]);
    expect(keys.listOf(wallet, 'TRADING').map((one) => one.apiKey)).toEqual([key.apiKey]);
  });
});

describe('a read-only key', () => {
  const shown = deriveReadKey(serverSecret, { wallet, number: 0 });
  const readKeys = new ReadKeyDirectory();
  const record = { wallet: hexBytes(wallet), number: 0, createdAtMs: 1, revokedAtMs: 0 };
  const verify = openReaderVerifier(open(), readKeys);
  const ask = (headers: Record<string, string>) => verify({ ...signed(), headers });
  const good = { service_readonly_api_key: shown, service_address: wallet };
  beforeEach(() => readKeys.apply({ ...record, keyHash: hashOfKey(shown), active: true }));

  it('opens the reads of its wallet alone, until it is deleted', () => {
    expect(ask(good)).toEqual({ wallet, apiKey: null });
    expect(ask({ ...good, service_readonly_api_key: shown.toUpperCase() })).not.toBeNull();
    expect(ask({ ...good, service_address: other })).toBeNull();
    expect(ask({ service_readonly_api_key: shown })).toBeNull();
    expect(ask({ ...good, service_readonly_api_key: key.apiKey })).toBeNull();
    readKeys.apply({ ...record, keyHash: hashOfKey(shown), active: false });
    expect(ask(good)).toBeNull();
  });

  it('does not help a request that names an API key', () => {
    expect(ask({ ...good, service_api_key: key.apiKey })).toBeNull();
    expect(verify(signed())).toMatchObject({ wallet, apiKey: key.apiKey });
  });

  it('makes a request private', () => {
    expect(claimsKey({ service_readonly_api_key: 'x' })).toBe(true);
  });
});

describe('the directory of keys', () => {
  it('knows all keys a wallet ever had', () => {
    const keys = new KeyDirectory();
    const second = deriveKey(serverSecret, { wallet, nonce: '1' });
    keys.apply(credential({ active: false }));
    keys.apply(credential({ apiKey: apiKeyBytes(second.apiKey), nonce: '1' }));
    expect([...keys.keysOf(wallet)]).toEqual([key.apiKey, second.apiKey]);
    expect(keys.keysOf(other).size).toBe(0);
    expect(keys.find(key.apiKey)).toMatchObject({ active: false, nonce: '0' });
    expect(keys.size).toBe(2);
  });
});

function openCredentials(changes: Partial<Credential> = {}) {
  const keys = new KeyDirectory();
  keys.apply(credential(changes));
  return openCredentialsVerifier({ keys, secrets });
}

const { secret } = key;
test.each([
  ['as it was given out', trioOf(key).secret],
  ['in plain base64', secret.toString('base64')],
  ['without padding', secret.toString('base64url')],
])('sent credentials prove their key with the secret %s', (_, text) => {
  const holder = openCredentials()({ ...trioOf(key), secret: text });
  expect(holder).toMatchObject({ apiKey: key.apiKey, wallet });
});

const sent = trioOf(key);
test.each([
  [
    'another secret',
    { secret: trioOf(deriveKey(serverSecret, { wallet, nonce: '1' })).secret },
    {},
  ],
  ['an empty secret', { secret: '' }, {}],
  ['another passphrase', { passphrase: '0'.repeat(64) }, {}],
  ['an unknown key', { apiKey: '00000000-0000-4000-8000-000000000001' }, {}],
  ['a text that is no key', { apiKey: '__proto__' }, {}],
  ['a revoked key', {}, { active: false }],
  ['the key of a builder', {}, { keyKind: 'BUILDER' }],
  ['a key that the secret of the server does not derive', {}, { nonce: '1' }],
] as const)('%s proves nothing', (_, wrong, listed) => {
  expect(openCredentials(listed)({ ...sent, ...wrong })).toBeNull();
});
