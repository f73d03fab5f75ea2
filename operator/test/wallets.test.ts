import { derivedWalletsOf } from '@pm/domain/accounts/derived-wallets';
import { defaultFeeWallet } from '@pm/domain/accounts/reserved-addresses';
import { Fault } from '@pm/kit/fault';
import { operatorItemsMax } from '@pm/schemas/http/operator';
import { checksumAddress, hexBytes, type WalletAddress, walletFromBytes } from '@pm/schemas/ids';
import { addressOf, OwnersTopic, ownerRecord } from '../../ingress/test/owners-fixture.ts';
import { keccak } from '../../ingress/test/wallet-fixture.ts';
import { openOperator, tokenNamed } from './operator-fixture.ts';

const [wallet, owner, other] = [addressOf(0x44), addressOf(0x01), addressOf(0x02)];
const zero = `0x${'0'.repeat(40)}` as WalletAddress;
const [proxy = zero] = derivedWalletsOf(hexBytes(owner), keccak).proxies.map(walletFromBytes);
const path = '/operator/wallet-owners';

let topic: OwnersTopic;
let operator: Awaited<ReturnType<typeof openOperator>>;
beforeEach(async () => {
  topic = new OwnersTopic();
  operator = await openOperator(topic);
});
afterEach(() => operator.app.close());

const bind = (...wallets: readonly { wallet: string; owner: string }[]) =>
  operator.post(path, { wallets });

describe('POST /operator/wallet-owners', () => {
  test('binds several wallets, and says of each what became of it', async () => {
    operator.owners.prove(other);
    topic.append([ownerRecord(addressOf(0x45), owner), ownerRecord(addressOf(0x46), other)]);
    await new Promise((resolve) => setTimeout(resolve, 5));
    const { status, body } = await bind(
      { wallet: checksumAddress(wallet), owner: checksumAddress(owner) },
      { wallet: addressOf(0x45), owner },
      { wallet: proxy, owner },
      { wallet: addressOf(0x46), owner },
      { wallet: other, owner },
      { wallet: zero, owner },
      { wallet: addressOf(0x47), owner: defaultFeeWallet },
      { wallet: owner, owner },
    );
    expect(status).toBe(200);
    const { results } = body as { results: { result: string; error?: string }[] };
    expect(results[0]).toEqual({
      wallet: checksumAddress(wallet),
      owner: checksumAddress(owner),
      result: 'bound',
    });
    expect(results.map(({ result }) => result)).toEqual([
      ...['bound', 'already', 'already', 'taken', 'taken', 'reserved', 'reserved', 'own_address'],
    ]);
    expect(results.map(({ error }) => error === undefined)).toEqual([
      ...[true, true, true, false, false, false, false, false],
    ]);
    expect(operator.owners.isOwnedBy(wallet, owner)).toBe(true);
    expect(topic.records).toHaveLength(3);
  });

  test('the same again changes nothing, and another owner is refused', async () => {
    await bind({ wallet, owner });
    expect((await bind({ wallet, owner })).body.results).toMatchObject([{ result: 'already' }]);
    expect((await bind({ wallet, owner: other })).body.results).toMatchObject([
      { result: 'taken', error: 'the wallet has another owner' },
    ]);
    expect(topic.records).toHaveLength(1);
  });

  test('the record names the operator, and the request is on the audit trail', async () => {
    const headers = { authorization: `Bearer ${tokenNamed('alice')}`, 'x-operator-name': 'bob' };
    await operator.post(path, { wallets: [{ wallet, owner }] }, headers);
    await bind({ wallet: addressOf(0x45), owner });
    expect(topic.records.map(({ boundBy }) => boundBy)).toEqual(['alice', 'operator']);
    const { entries } = (await operator.get('/operator/audit')).body;
    expect(entries).toMatchObject([
      { who: 'operator', action: `POST ${path}`, status: 200 },
      { who: 'alice', action: `POST ${path}`, status: 200 },
    ]);
  });

  test('an unknown outcome is 503 and may be sent again', async () => {
    topic.isHeldUp = true;
    const late = await bind({ wallet, owner });
    expect([late.status, late.body]).toEqual([
      503,
      { error: 'it is not known yet whether the wallets are bound, try again' },
    ]);
    topic.goOn();
    expect((await bind({ wallet, owner })).body.results).toMatchObject([{ result: 'already' }]);
    topic.fault = new Fault('not_sent', 'retry');
    const unsent = await bind({ wallet: addressOf(0x45), owner });
    expect([unsent.status, unsent.body.error]).toEqual([503, 'nothing was bound, try again']);
  });

  test.each([
    [{}],
    [{ wallets: [] }],
    [{ wallets: [{ wallet }] }],
    [{ wallets: [{ wallet: '0x1', owner }] }],
    [{ wallets: [{ wallet, owner, note: '' }] }],
    [{ wallets: Array(operatorItemsMax + 1).fill({ wallet, owner }) }],
  ])('refuses a body that is not of its form', async (body) => {
    expect((await operator.post(path, body)).status).toBe(400);
    expect(topic.records).toEqual([]);
  });

  test('wants the token', async () => {
    expect((await operator.post(path, { wallets: [{ wallet, owner }] }, {})).status).toBe(401);
    expect(topic.records).toEqual([]);
  });
});

describe('GET /operator/wallets/:address/owner', () => {
  const ownerOf = async (of: WalletAddress) =>
    (await operator.get(`/operator/wallets/${of}/owner`)).body;
  const none = { owner: null, basis: null, boundBy: null, boundAt: null, reserved: false };

  test('says whose a wallet is, and why', async () => {
    expect(await ownerOf(wallet)).toEqual({ ...none, address: checksumAddress(wallet) });
    await bind({ wallet, owner });
    expect(await ownerOf(wallet)).toEqual({
      address: checksumAddress(wallet),
      owner: checksumAddress(owner),
      basis: 'operator',
      boundBy: 'operator',
      boundAt: '2023-11-14T22:13:20.000Z',
      reserved: false,
    });
    operator.owners.prove(owner);
    expect(await ownerOf(owner)).toMatchObject({ basis: 'own_key', boundBy: null });
    expect(await ownerOf(proxy)).toMatchObject({
      basis: 'factory',
      owner: checksumAddress(owner),
    });
  });

  test('says of a reserved address that it is one', async () => {
    expect(await ownerOf(defaultFeeWallet)).toMatchObject({ ...none, reserved: true });
    expect((await operator.get('/operator/wallets/0x12/owner')).status).toBe(400);
  });
});

describe('deposits', () => {
  let nextId = 1;
  const deposit = (to: string, named?: string) => {
    nextId += 1;
    const transferId = `0x${String(nextId).padStart(64, '0')}`;
    return {
      transferId,
      wallet: to,
      amount: '5',
      ...(named === undefined ? {} : { owner: named }),
    };
  };
  const pay = (...deposits: readonly object[]) => operator.post('/operator/deposits', { deposits });

  test('bind a wallet to the owner that they name before the money is written', async () => {
    let isBoundBefore = false;
    const { writer: writes } = operator.services.money;
    const { writeTransfers } = writes;
    writes.writeTransfers = async (transfers) => {
      isBoundBefore = operator.owners.isOwnedBy(wallet, owner);
      await writeTransfers(transfers);
    };
    const paid = await pay(deposit(wallet, owner), deposit(wallet, owner), deposit(proxy, owner));
    expect([paid.status, paid.body, isBoundBefore]).toEqual([200, { accepted: 3 }, true]);
    expect(operator.transfers).toHaveLength(3);
    expect(topic.records).toEqual([
      ownerRecord(wallet, owner, { boundBy: 'operator', boundAtMs: 1_700_000_000_000 }),
    ]);
  });

  test('without an owner bind nothing', async () => {
    expect((await pay(deposit(wallet))).status).toBe(200);
    expect([operator.owners.ownerOf(wallet), topic.records]).toEqual([undefined, []]);
  });

  test.each([
    ['another owner', [deposit(addressOf(0x45)), deposit(wallet, other)], 409, '/deposits/1/owner'],
    ['the wallet itself', [deposit(owner, owner)], 400, '/deposits/0/owner'],
    ['a reserved owner', [deposit(wallet, defaultFeeWallet)], 400, '/deposits/0/owner'],
    [
      'two owners of one wallet',
      [deposit(addressOf(0x46), owner), deposit(addressOf(0x46), other)],
      ...([400, '/deposits/1/owner'] as const),
    ],
    ['a reserved address', [deposit(wallet, owner), deposit(zero)], 400, '/deposits/1/wallet'],
    ['an owner of the fee wallet', [deposit(defaultFeeWallet, owner)], 400, '/deposits/0/owner'],
  ])('with %s are refused as a whole', async (_what, deposits, status, place) => {
    await bind({ wallet, owner });
    const refused = await pay(...deposits);
    expect([refused.status, refused.body.path]).toEqual([status, place]);
    expect(operator.transfers).toEqual([]);
    expect(topic.records).toHaveLength(1);
  });

  test('write no money while it is not known whether the wallet is bound', async () => {
    topic.isHeldUp = true;
    const late = await pay(deposit(wallet, owner));
    expect([late.status, operator.transfers]).toEqual([503, []]);
    topic.goOn();
    expect((await pay(deposit(wallet, owner))).status).toBe(200);
  });

  test('write no money to a wallet that another ingress bound in the same moment', async () => {
    topic.isHeldUp = true;
    await topic.append([ownerRecord(wallet, other)]);
    const paying = pay(deposit(wallet, owner));
    setTimeout(() => topic.goOn(), 20);
    expect((await paying).status).toBe(409);
    expect(operator.transfers).toEqual([]);
  });

  test('and withdrawals of the fee wallet are the operator’s', async () => {
    expect((await pay(deposit(defaultFeeWallet))).status).toBe(200);
    const [one] = [deposit(defaultFeeWallet)];
    const { status, body } = await operator.post('/operator/withdrawals', { withdrawals: [one] });
    expect([status, body.results]).toMatchObject([200, [{ accepted: true }]]);
    expect(operator.transfers).toMatchObject([
      { wallet: hexBytes(defaultFeeWallet), amountMicro: 5_000_000 },
      { wallet: hexBytes(defaultFeeWallet), amountMicro: -5_000_000 },
    ]);
  });
});
