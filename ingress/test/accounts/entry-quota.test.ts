import type { WalletAddress } from '@pm/schemas/ids';
import { entryMoneyMicro, freeEntries } from '@pm/schemas/redis/held-entries';
import { EntryQuota } from '../../src/accounts/entry-quota.io.ts';
import { call, type IngressUnderTest, openIngress, owner } from '../ingress-fixture.ts';
import { ask, attestation } from '../keys-fixture.ts';
import { addressOf, OwnersTopic, ownerRecord } from '../owners-fixture.ts';
import { walletOf } from '../wallet-fixture.ts';

/** A ledger with these balances, micro-USDC, free and held. */
function ledgerOf(money: ReadonlyMap<string, readonly [number, number]>) {
  return {
    balance: async (wallet: WalletAddress) => {
      const [freeMicro = 0, heldMicro = 0] = money.get(wallet) ?? [];
      return { freeMicro, heldMicro, pendingMicro: 0, availableMicro: freeMicro };
    },
  };
}

describe('room for one more entry', () => {
  const { owners, store } = new OwnersTopic().open();
  const [poor, bound] = [addressOf(1), addressOf(2)];

  test('is there for everyone below the free number', async () => {
    const room = new EntryQuota({ ledger: ledgerOf(new Map()), owners });
    expect(await room.admits({ entries: 9, free: 10 }, poor)).toBe(true);
    expect(await room.admits({ entries: 10, free: 10 }, poor)).toBe(false);
  });

  test('is there for ever for a wallet with money, free, in orders or in a wallet of its own', async () => {
    store.take(ownerRecord(bound, poor));
    const half = entryMoneyMicro / 2;
    const cases: readonly [string, readonly [number, number], boolean][] = [
      [poor, [entryMoneyMicro, 0], true],
      [poor, [half, half], true],
      [poor, [0, entryMoneyMicro], true],
      [bound, [entryMoneyMicro, 0], true],
      [poor, [entryMoneyMicro - 1, 0], false],
      [addressOf(3), [entryMoneyMicro, 0], false],
    ];
    for (const [wallet, money, isAdmitted] of cases) {
      const room = new EntryQuota({ ledger: ledgerOf(new Map([[wallet, money]])), owners });
      expect(await room.admits({ entries: 1e9, free: 10 }, poor)).toBe(isAdmitted);
    }
  });
});

describe('a table without free room', () => {
  let ingress: IngressUnderTest;
  beforeEach(async () => {
    ingress = await openIngress();
    ingress.accounts.room.asked.length = 0;
  });
  afterEach(() => ingress.app.close());

  const send = (method: 'POST' | 'PUT' | 'DELETE', url: string, body?: object) =>
    call(ingress, { method, url, ...(body === undefined ? {} : { body: JSON.stringify(body) }) });
  const makeKey = (wallet = walletOf(8), nonce = '0') =>
    ask(ingress, { method: 'POST', url: '/auth/api-key', headers: attestation(wallet, { nonce }) });
  const say = () =>
    send('POST', '/comments', {
      parent_entity_type: 'market',
      parent_entity_id: 1,
      body: 'It will.',
    });
  const profile = (name: string) => send('PUT', '/profile', { name });

  test.each([
    ['apiKeys', () => makeKey()],
    ['apiKeys', () => send('POST', '/auth/builder-api-key')],
    ['readOnlyKeys', () => send('POST', '/auth/readonly-api-key')],
    ['agents', () => send('POST', '/api/v1/agents', { name: 'a' })],
    ['sessions', () => send('POST', '/heartbeats')],
    ['profiles', () => profile('Ann')],
    ['notificationMarks', () => send('DELETE', '/notifications?ids=1')],
    ['comments', say],
  ] as const)('takes no more %s of wallets without money', async (table, add) => {
    ingress.accounts.room.isFull = true;
    const { status, body } = await add();
    expect([status, body]).toMatchObject([403, { code: 'deposit_required' }]);
    expect(ingress.accounts.room.asked.at(-1)?.free).toBe(freeEntries[table]);
    ingress.accounts.room.isFull = false;
    expect((await add()).status).toBe(200);
  });

  test('of votes takes no more likes and reports of wallets without money', async () => {
    await say();
    ingress.accounts.room.isFull = true;
    const like = { reaction_type: 'HEART' };
    for (const url of ['/comments/1/reactions', '/comments/1/reports']) {
      const { status, body } = await send('POST', url, url.endsWith('reactions') ? like : {});
      expect([status, body]).toMatchObject([403, { code: 'deposit_required' }]);
      expect(ingress.accounts.room.asked.at(-1)?.free).toBe(freeEntries.commentVotes);
    }
    expect((await send('DELETE', '/comments/1/reactions')).status).toBe(200);
    expect((await send('DELETE', '/comments/1')).status).toBe(200);
  });

  test('goes on with the entries that are there', async () => {
    const key = await makeKey(owner);
    await send('POST', '/heartbeats');
    await profile('Ann');
    await send('DELETE', '/notifications?ids=1');
    ingress.accounts.room.isFull = true;
    expect(await makeKey(owner)).toMatchObject({ status: 200, body: key.body as object });
    expect((await send('POST', '/heartbeats')).status).toBe(200);
    expect((await profile('Anna')).status).toBe(200);
    expect((await send('DELETE', '/notifications?ids=2')).status).toBe(200);
  });

  test('has room for longer for a wallet that replaces its only key', async () => {
    await ingress.keys.revokeNonce(owner.address as WalletAddress, '0');
    await ingress.keys.create(owner.address as WalletAddress, '0');
    expect(ingress.accounts.room.asked.at(-1)?.free).toBe(2 * freeEntries.apiKeys);
  });
});
