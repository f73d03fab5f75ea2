import type { WalletAddress } from '@pm/schemas/ids';
import { refusalText } from '@pm/schemas/refusals';
import { headers as names } from '@pm/schemas/signing';
import { activeKeysMax, keysEverMax } from '../../src/accounts/api-keys.io.ts';
import {
  answered,
  call,
  type IngressUnderTest,
  nowSeconds,
  owner,
  placeOne,
  signedItem,
  testOrder,
  trioIn,
} from '../ingress-fixture.ts';
import { ask, attestation, join } from '../keys-fixture.ts';
import { Processes } from '../processes-fixture.ts';
import { l2Signature, walletOf } from '../wallet-fixture.ts';

const processes = new Processes();
let ingress: IngressUnderTest;

beforeEach(async () => {
  ingress = await processes.first();
});
afterAll(() => processes.close());

const unauthorized = [401, { error: 'Unauthorized/Invalid api key', code: 'invalid_l2' }];
const notFound = [404, { error: refusalText('api_key_not_found'), code: 'api_key_not_found' }];
const wallet = owner.address as WalletAddress;
const settled = () => new Promise((resolve) => setImmediate(resolve));
const iso = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);

describe('the keys of a wallet', () => {
  it('are listed by one of them and by the wallet itself, with facts when asked', async () => {
    const other = await join(ingress, walletOf(9));
    await other.call({ method: 'DELETE', url: '/auth/api-key' });
    const again = await ingress.keys.create(wallet, '7');
    const second = 'apiKey' in again ? again.apiKey : '';
    await ingress.keys.revokeNonce(wallet, '7');
    const all = { apiKeys: [ingress.trio.apiKey, second] };
    expect((await call(ingress, { method: 'GET', url: '/auth/api-keys' })).body).toEqual(all);
    const bySignature = { url: '/auth/api-keys', headers: attestation(owner, { nonce: '5' }) };
    expect((await ask(ingress, { method: 'GET', ...bySignature })).body).toEqual(all);
    const url = '/auth/api-keys?includeRevoked=false';
    expect((await call(ingress, { method: 'GET', url })).body).toEqual({
      apiKeys: [ingress.trio.apiKey],
    });
    const facts = await call(ingress, { method: 'GET', url: '/auth/api-keys?metadata=true' });
    expect(facts.body).toEqual([
      {
        apiKey: ingress.trio.apiKey,
        nonce: '0',
        status: 'active',
        createdAt: iso,
        revokedAt: null,
      },
      { apiKey: second, nonce: '7', status: 'revoked', createdAt: iso, revokedAt: iso },
    ]);
    const bad = await call(ingress, { method: 'GET', url: '/auth/api-keys?metadata=2' });
    expect([bad.status, bad.body.code]).toEqual([400, 'invalid_request']);
  });

  it('are listed to nobody else', async () => {
    const foreign = { [names.address]: walletOf(9).address };
    const byKey = await call(ingress, { method: 'GET', url: '/auth/api-keys', headers: foreign });
    expect([byKey.status, byKey.body]).toEqual(unauthorized);
    const bare = await ask(ingress, { method: 'GET', url: '/auth/api-keys' });
    expect([bare.status, bare.body]).toEqual([401, { error: refusalText('invalid_l1') }]);
    const half = { ...attestation(owner), [names.apiKey]: ingress.trio.apiKey };
    const mixed = await ask(ingress, { method: 'GET', url: '/auth/api-keys', headers: half });
    expect([mixed.status, mixed.body]).toEqual(unauthorized);
  });

  it('end with DELETE, which answers "OK" and counts at once in every process', async () => {
    const peer = await processes.next();
    const request = { method: 'DELETE', url: '/auth/api-key', body: '{}' } as const;
    const done = await call(ingress, request);
    expect([done.status, done.body]).toEqual([200, 'OK']);
    await settled();
    for (const process of [ingress, peer]) {
      const later = await call(process, { ...request, trio: ingress.trio });
      expect([later.status, later.body]).toEqual(unauthorized);
    }
    const derive = { method: 'GET', url: '/auth/derive-api-key' } as const;
    expect((await ask(peer, { ...derive, headers: attestation(owner) })).status).toBe(404);
  });

  it('end by name and by the signature over their nonce, twice over too; foreign ones do not', async () => {
    const trio = await ingress.keys.create(wallet, '5');
    const apiKey = 'apiKey' in trio ? trio.apiKey : '';
    const other = await join(ingress, walletOf(9));
    const url = '/auth/api-key';
    const body = JSON.stringify({ apiKey });
    const foreign = await other.call({ method: 'DELETE', url, body });
    expect([foreign.status, foreign.body]).toEqual(notFound);
    for (const none of ['{"apiKey":"x"}', '{"apiKey":["a"]}', '{"apiKey":null}']) {
      const answer = await call(ingress, { method: 'DELETE', url, body: none });
      expect([answer.status, answer.body]).toEqual(notFound);
    }
    const headers = attestation(owner, { nonce: '5' });
    for (let times = 0; times < 2; times += 1) {
      const answer = await ask(ingress, { method: 'DELETE', url: '/auth/api-key', headers });
      expect([answer.status, answer.body]).toEqual([200, 'OK']);
    }
    const never = attestation(owner, { nonce: '6' });
    const answer = await ask(ingress, { method: 'DELETE', url: '/auth/api-key', headers: never });
    expect([answer.status, answer.body]).toEqual(notFound);
    const named = await call(ingress, { method: 'DELETE', url, body });
    expect(named.body).toBe('OK');
    expect(ingress.keys.derive(wallet, '5')).toBeNull();
    expect(ingress.keys.derive(wallet, '0')).toEqual(ingress.trio);
  });

  it('stay revoked: their nonce gets another secret, and keeps its settings', async () => {
    const former = ingress.trio;
    await ingress.keys.setSelfTrade(wallet, ingress.trio.apiKey as never, 'CANCEL_OLDEST');
    await call(ingress, { method: 'DELETE', url: '/auth/api-key' });
    ingress.fakes.nowMs += 60_000;
    const headers = attestation(owner);
    const made = await ask(ingress, { method: 'POST', url: '/auth/api-key', headers });
    expect(new Set([...Object.values(Object(made.body)), ...Object.values(former)]).size).toBe(6);
    const derive = { method: 'GET', url: '/auth/derive-api-key', headers } as const;
    expect((await ask(ingress, derive)).body).toEqual(made.body);
    const later = await call(ingress, { method: 'GET', url: '/auth/api-keys', trio: former });
    expect([later.status, later.body]).toEqual(unauthorized);
    const [, key] = ingress.keys.list(wallet, 'TRADING');
    expect(key).toMatchObject({ active: true, createdAtMs: ingress.fakes.nowMs, revokedAtMs: 0 });
    expect(key?.selfTrade).toBe('CANCEL_OLDEST');
  });

  it('are neither made nor revoked by a signature from before', async () => {
    const peer = await processes.next();
    const captured = attestation(owner);
    const create = { method: 'POST', url: '/auth/api-key', headers: captured } as const;
    expect((await ask(ingress, create)).body).toEqual(ingress.trio);
    ingress.fakes.nowMs += 2_000;
    await call(ingress, { method: 'DELETE', url: '/auth/api-key' });
    await settled();
    for (const process of [ingress, peer]) {
      process.fakes.nowMs = ingress.fakes.nowMs;
      const again = await ask(process, create);
      expect([again.status, again.body]).toMatchObject([409, { code: 'request_repeated' }]);
    }
    const made = trioIn(await ingress.keys.create(wallet, '0'));
    const late = await ask(ingress, { method: 'DELETE', url: '/auth/api-key', headers: captured });
    expect([late.status, late.body]).toMatchObject([409, { code: 'request_repeated' }]);
    expect(ingress.keys.derive(wallet, '0')).toEqual(made);
  });

  it('stay revoked when a change of theirs crosses the revocation in the log', async () => {
    const [left, right] = [ingress, await processes.next()];
    left.accounts.credentials.isHeldUp = true;
    await right.keys.revokeNonce(wallet, '0');
    await left.keys.setSelfTrade(wallet, left.trio.apiKey as never, 'CANCEL_OLDEST');
    expect(left.keys.derive(wallet, '0')).toEqual(left.trio);
    left.accounts.credentials.goOn();
    await settled();
    await settled();
    for (const process of [left, right]) expect(process.keys.derive(wallet, '0')).toBeNull();
    expect(left.accounts.credentials.compact().map(({ value }) => value?.active)).toEqual([false]);
  });

  it('are bounded: so many active, so many ever', async () => {
    for (let nonce = 1; nonce < activeKeysMax; nonce += 1) {
      await ingress.keys.create(wallet, String(nonce));
    }
    const full = await ask(ingress, {
      method: 'POST',
      url: '/auth/api-key',
      headers: attestation(owner, { nonce: '1000' }),
    });
    expect([full.status, full.body]).toEqual([
      400,
      {
        error: refusalText('too_many_api_keys', { max: activeKeysMax }),
        code: 'too_many_api_keys',
      },
    ]);
    expect(await ingress.keys.create(wallet, '0')).toEqual(ingress.trio);
    await ingress.keys.revokeNonce(wallet, '1');
    for (let nonce = activeKeysMax; nonce < keysEverMax; nonce += 1) {
      await ingress.keys.create(wallet, String(nonce));
      await ingress.keys.revokeNonce(wallet, String(nonce));
    }
    expect(await ingress.keys.create(wallet, String(keysEverMax))).toEqual({ max: keysEverMax });
    expect(await ingress.keys.create(wallet, '1')).toEqual({ max: keysEverMax });
    expect(await ingress.keys.create(wallet, '0')).toEqual(ingress.trio);
  });

  it('are one by one changed: a revocation is not undone by settings on their way', async () => {
    const peer = await processes.next();
    const revoked = ingress.keys.revokeNonce(wallet, '0');
    const set = ingress.keys.setSelfTrade(wallet, ingress.trio.apiKey as never, 'CANCEL_OLDEST');
    expect(await Promise.all([revoked, set])).toEqual([true, false]);
    await settled();
    for (const { keys } of [ingress, peer]) {
      expect(keys.list(wallet, 'TRADING')).toMatchObject([{ active: false }]);
    }
  });
});

describe('settings of a key', () => {
  const url = '/auth/api-key/settings';

  it('decide about orders that meet one another, and outlive a restart', async () => {
    expect((await call(ingress, { method: 'GET', url })).body).toEqual({
      self_trade: 'cancel_newest',
    });
    const body = '{"self_trade":"cancel_both","more":1}';
    const set = await call(ingress, { method: 'POST', url, body });
    expect([set.status, set.body]).toEqual([200, { self_trade: 'cancel_both' }]);
    const { item } = signedItem(testOrder());
    for (const process of [ingress, await processes.next()]) {
      expect((await call(process, { method: 'GET', url })).body).toEqual(set.body);
      expect((await placeOne(process, item)).status).toBe(200);
      expect(process.fakes.sent.at(-1)?.command).toMatchObject({ selfTrade: 'CANCEL_BOTH' });
    }
  });

  it('never let a wallet trade with itself, whatever their record says', async () => {
    await ingress.keys.setSelfTrade(wallet, ingress.trio.apiKey as never, 'ALLOW');
    const { item } = signedItem(testOrder());
    for (const process of [ingress, await processes.next()]) {
      expect((await call(process, { method: 'GET', url })).body).toEqual({
        self_trade: 'cancel_newest',
      });
      expect((await placeOne(process, item)).status).toBe(200);
      expect(process.fakes.sent.at(-1)?.command).toMatchObject({ selfTrade: 'CANCEL_NEWEST' });
    }
  });

  it.each([
    ...['{}', '[]', '{"self_trade":"CANCEL_BOTH"}', '{"self_trade":"allow"}'],
    ...['{"self_trade":1}', '""'],
  ])('are not %s', async (body) => {
    const answer = await call(ingress, { method: 'POST', url, body });
    expect([answer.status, answer.body.code]).toEqual([400, 'invalid_request']);
    expect((await call(ingress, { method: 'GET', url })).body.self_trade).toBe('cancel_newest');
  });
});

describe('a read-only key', () => {
  const shown = (key: string) => ({ [names.readOnlyKey]: key, [names.address]: owner.address });
  const make = async () => {
    const made = await call(ingress, { method: 'POST', url: '/auth/readonly-api-key' });
    return String(made.body.apiKey);
  };

  it('is stored as its hash alone, listed to its owner, and the same after a restart', async () => {
    const keys = [await make(), await make()];
    expect(new Set(keys).size).toBe(2);
    for (const process of [ingress, await processes.next()]) {
      const url = '/auth/readonly-api-keys';
      expect((await call(process, { method: 'GET', url })).body).toEqual(keys);
      for (const key of keys) {
        const check = `/auth/validate-readonly-api-key?address=${owner.address}&key=${key}`;
        expect((await ask(process, { method: 'GET', url: check })).body).toEqual({ valid: true });
      }
    }
    const stored = processes.accounts.readKeys.records.map(({ key, value }) => [
      key,
      JSON.stringify(value),
      value?.keyHash.toString('latin1'),
    ]);
    const raw = Buffer.from((keys[0] ?? '').replaceAll('-', ''), 'hex');
    expect(stored.flat().join(' ')).not.toContain(keys[0]);
    expect(stored.flat().join(' ')).not.toContain(raw.toString('latin1'));
  });

  it('opens private reads and no write', async () => {
    const headers = shown(await make());
    const read = await ask(ingress, {
      method: 'GET',
      url: '/auth/ban-status/closed-only',
      headers,
    });
    expect([read.status, read.body]).toEqual([200, { closedOnly: false, closed_only: false }]);
    const { item } = signedItem(testOrder());
    const writes = [
      ['POST', '/order', item],
      ['POST', '/orders', [item]],
      ['DELETE', '/order', {}],
      ['DELETE', '/cancel-all', {}],
      ['POST', '/auth/readonly-api-key', {}],
      ['DELETE', '/auth/readonly-api-key', {}],
      ['POST', '/auth/api-key/settings', {}],
      ['POST', '/auth/builder-api-key', {}],
      ['POST', '/api/v1/agents', { name: 'x' }],
    ] as const;
    for (const [method, url, body] of writes) {
      const answer = await ask(ingress, { method, url, headers, body: JSON.stringify(body) });
      expect([url, answer.status, answer.body]).toEqual([
        url,
        403,
        { error: refusalText('read_only_key'), code: 'read_only_key' },
      ]);
    }
    const list = await ask(ingress, { method: 'GET', url: '/auth/readonly-api-keys', headers });
    expect(list.status).toBe(403);
    expect(ingress.fakes.sent).toHaveLength(0);
  });

  it('ends with DELETE, in body or query, and is nobody else’s to end', async () => {
    const [first, second] = [await make(), await make()];
    const url = '/auth/readonly-api-key';
    const other = await join(ingress, walletOf(9));
    const body = JSON.stringify({ key: first });
    const foreign = await other.call({ method: 'DELETE', url, body });
    expect([foreign.status, foreign.body]).toEqual(notFound);
    expect((await call(ingress, { method: 'DELETE', url, body })).body).toEqual({ deleted: true });
    const inQuery = `${url}?key=${second}`;
    const byQuery = await call(ingress, { method: 'DELETE', url: inQuery, signedPath: inQuery });
    expect(byQuery.body).toEqual({ deleted: true });
    for (const key of [first, second, ingress.trio.apiKey, 'x']) {
      const headers = shown(key);
      const read = await ask(ingress, {
        method: 'GET',
        url: '/auth/ban-status/closed-only',
        headers,
      });
      expect([read.status, read.body]).toEqual(unauthorized);
      const write = await ask(ingress, { method: 'POST', url: '/order', body: '{}', headers });
      expect([write.status, write.body]).toEqual(unauthorized);
      const check = `/auth/validate-readonly-api-key?address=${owner.address}&key=${key}`;
      expect((await ask(ingress, { method: 'GET', url: check })).body).toEqual({ valid: false });
    }
    expect(await make()).not.toBe(first);
  });

  it('is deleted with a bare true under the mount whose clients read a boolean', async () => {
    const body = JSON.stringify({ key: await make() });
    const url = '/clob/auth/readonly-api-key';
    expect((await call(ingress, { method: 'DELETE', url, body })).body).toBe(true);
  });

  it('says nothing to who asks without naming one', async () => {
    for (const query of ['', '?address=x', '?key=y', '?key=1&key=2&address=3']) {
      const url = `/auth/validate-readonly-api-key${query}`;
      expect((await ask(ingress, { method: 'GET', url })).body).toEqual({ valid: false });
    }
  });

  it('has a limit', async () => {
    for (let made = 0; made < activeKeysMax; made += 1) await make();
    const full = await call(ingress, { method: 'POST', url: '/auth/readonly-api-key' });
    expect([full.status, full.body.code]).toEqual([400, 'too_many_api_keys']);
  });
});

describe('a builder key', () => {
  const url = '/auth/builder-api-key';
  const make = async () => (await call(ingress, { method: 'POST', url })).body;
  const proof = (trio: { key: string; secret: string; passphrase: string }) => {
    const timestamp = String(nowSeconds);
    return {
      [names.builderApiKey]: trio.key,
      [names.builderPassphrase]: trio.passphrase,
      [names.builderTimestamp]: timestamp,
      [names.builderSignature]: l2Signature(trio.secret, `${timestamp}DELETE${url}`),
    };
  };

  it('is made, listed, and revoked by its own headers', async () => {
    const [first, second] = [await make(), await make()];
    expect(first).toEqual({
      key: expect.stringMatching(/^[0-9a-f-]{36}$/),
      secret: expect.stringMatching(/^[A-Za-z0-9_-]{43}=$/),
      passphrase: expect.stringMatching(/^[0-9a-f]{64}$/),
    });
    const gone = await ask(ingress, { method: 'DELETE', url, headers: proof(first) });
    expect([gone.status, gone.body]).toEqual([200, 'OK']);
    const again = await ask(ingress, { method: 'DELETE', url, headers: proof(first) });
    expect([again.status, again.body]).toEqual(unauthorized);
    const list = await call(await processes.next(), { method: 'GET', url });
    expect(list.body).toEqual([
      { key: first.key, createdAt: iso, revokedAt: iso },
      { key: second.key, createdAt: iso, revokedAt: null },
    ]);
    expect((await call(ingress, { method: 'GET', url: '/auth/api-keys' })).body).toEqual({
      apiKeys: [ingress.trio.apiKey],
    });
  });

  it('trades nothing', async () => {
    const { key: apiKey, secret, passphrase } = await make();
    const body = JSON.stringify({ orderID: `0x${'00'.repeat(32)}` });
    const trio = { apiKey, secret, passphrase };
    const answer = await call(ingress, { method: 'DELETE', url: '/order', body, trio });
    expect([answer.status, answer.body]).toEqual(unauthorized);
  });

  it('is revoked by an API key: the named one, or all without a name', async () => {
    const [first] = [await make(), await make()];
    const other = await join(ingress, walletOf(9));
    const named = JSON.stringify({ key: first.key });
    expect((await other.call({ method: 'DELETE', url, body: named })).status).toBe(404);
    expect((await call(ingress, { method: 'DELETE', url, body: named })).body).toBe('OK');
    const states = () => ingress.keys.list(wallet, 'BUILDER').map(({ active }) => active);
    expect(states()).toEqual([false, true]);
    for (const body of ['{"key":{}}', '{"key":null}', '{"key":["x"]}', '{"key":""}']) {
      expect((await call(ingress, { method: 'DELETE', url, body })).status).toBe(404);
    }
    for (const query of [`?key=${first.key}&key=x`, '?key=none']) {
      const sent = { method: 'DELETE', url: url + query, signedPath: url + query } as const;
      expect((await call(ingress, { ...sent, body: '{}' })).status).toBe(404);
    }
    expect(states()).toEqual([false, true]);
    expect((await call(ingress, { method: 'DELETE', url })).body).toBe('OK');
    expect(states()).toEqual([false, false]);
  });
});

test('a request whose time alone is off gets the time, whatever its key, and nothing more', async () => {
  ingress.fakes.answer = () => answered([]);
  for (const seconds of [nowSeconds - 301, nowSeconds + 302]) {
    for (const apiKey of [ingress.trio.apiKey, '00000000-0000-4000-8000-000000000000']) {
      const headers = { [names.timestamp]: String(seconds), [names.apiKey]: apiKey };
      const answer = await call(ingress, { method: 'DELETE', url: '/cancel-all', headers });
      const nowMs = ingress.services.clock.nowMs();
      const skew = ((seconds * 1000 - nowMs) / 1000).toFixed(3);
      const server = (nowMs / 1000).toFixed(3);
      expect([answer.status, answer.body]).toEqual([
        401,
        {
          error: refusalText('timestamp_skew', { skew, server }),
          code: 'timestamp_skew',
          server_time: nowMs,
        },
      ]);
      expect(answer.headers.date).toBe(new Date(nowMs).toUTCString());
    }
  }
});
