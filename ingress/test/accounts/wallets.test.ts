import { derivedWalletsOf } from '@pm/domain/accounts/derived-wallets';
import { hexBytes, type WalletAddress } from '@pm/schemas/ids';
import { refusalText } from '@pm/schemas/refusals';
import { headers as names } from '@pm/schemas/signing';
import {
  call,
  type IngressUnderTest,
  openIngress,
  owner,
  signedItem,
  testOrder,
  trioIn,
} from '../ingress-fixture.ts';
import { OwnersTopic, ownerRecord } from '../owners-fixture.ts';
import { hexOf, keccak, type TestWallet, walletOf } from '../wallet-fixture.ts';

const stranger = walletOf(9);
const wallet = `0x${'44'.repeat(20)}`;
/** An ordinary account with money whose holder has never made a key. */
const funded = walletOf(13).address;
const small = (hex: string) => `0x${hex.padStart(40, '0')}`;
const foreign = { code: 'signer_mismatch', errorMsg: refusalText('signer_mismatch') };

let topic: OwnersTopic;
let ingresses: IngressUnderTest[];
beforeEach(() => {
  topic = new OwnersTopic();
  ingresses = [];
});
afterEach(() => Promise.all(ingresses.map((ingress) => ingress.app.close())));

async function nextIngress(): Promise<IngressUnderTest> {
  const ingress = await openIngress(topic);
  ingresses.push(ingress);
  return ingress;
}

async function requestBy(
  who: TestWallet,
  ingress: IngressUnderTest,
  url: string,
  bodyFor: (key: string) => object,
) {
  const trio = trioIn(await ingress.keys.create(who.address as WalletAddress, '0'));
  const headers = { [names.address]: who.address };
  const body = JSON.stringify(bodyFor(trio.apiKey));
  return await call(ingress, { method: 'POST', url, body, headers, trio });
}

/** An order of the wallet, signed and sent by the holder of an own key. */
function orderBy(
  who: TestWallet,
  ingress: IngressUnderTest,
  { maker = wallet, signatureType = 3 }: { maker?: string; signatureType?: number } = {},
) {
  const signer = signatureType === 3 ? maker : who.address;
  const order = testOrder({ maker, signer, signatureType });
  return requestBy(who, ingress, '/order', (key) => signedItem(order, { owner: key }, who).item);
}

let actions = 0;

function accountAction(who: TestWallet, ingress: IngressUnderTest, from: string) {
  actions += 1;
  const body = { wallet: from, amount: '100', id: `action-${actions}` };
  return requestBy(who, ingress, '/account/withdrawals', () => body);
}

const derivedFrom = ({ address }: TestWallet) => {
  const { proxies, safes } = derivedWalletsOf(hexBytes(address as WalletAddress), keccak);
  return { proxies: proxies.map(hexOf), safes: safes.map(hexOf) };
};

function expectNothingDone(ingress: IngressUnderTest) {
  const { sent, reserved, transfers } = ingress.fakes;
  expect([sent, reserved, transfers, topic.records]).toEqual([[], [], [], []]);
}

describe('a stranger', () => {
  const targets = [
    ['a funded ordinary account', funded],
    ['a contract wallet that has no owner', wallet],
    ['the address of another key', owner.address],
    ['the fee wallet', small('fe')],
    ['the zero address', small('0')],
    ['a burn address', small('dead')],
  ] as const;

  test.each(targets)(
    'places no order of types 1, 2 and 3 with %s as maker',
    async (_what, maker) => {
      const ingress = await nextIngress();
      for (const signatureType of [1, 2, 3]) {
        for (let tries = 0; tries < 2; tries += 1) {
          const { status, body } = await orderBy(stranger, ingress, { maker, signatureType });
          expect([status, body]).toMatchObject([400, foreign]);
        }
      }
      expectNothingDone(ingress);
    },
  );

  test.each(targets)('withdraws nothing from %s', async (_what, from) => {
    const ingress = await nextIngress();
    await orderBy(stranger, ingress, { maker: from });
    const { status, body } = await accountAction(stranger, ingress, from);
    expect([status, body.code]).toEqual([400, 'signer_mismatch']);
    expectNothingDone(ingress);
  });

  test('gets no wallet that is derived from an address without a key', async () => {
    const ingress = await nextIngress();
    const { proxies, safes } = derivedFrom(owner);
    for (const maker of [...proxies, ...safes]) {
      for (const signatureType of [1, 2, 3]) {
        expect((await orderBy(stranger, ingress, { maker, signatureType })).body).toMatchObject(
          foreign,
        );
      }
    }
    expectNothingDone(ingress);
  });

  test('gets no wallet that a signature of an earlier version bound to it', async () => {
    topic.records.push(ownerRecord(wallet, stranger.address, { boundBy: '' }));
    const ingress = await nextIngress();
    expect((await orderBy(stranger, ingress)).body).toMatchObject(foreign);
    expect((await accountAction(stranger, ingress, wallet)).body.code).toBe('signer_mismatch');
    expect(ingress.fakes.sent).toEqual([]);
  });
});

describe('an address trades from', () => {
  test.each([0, 1, 2, 3])('itself, with signature type %i', async (signatureType) => {
    const ingress = await nextIngress();
    expect((await orderBy(owner, ingress, { maker: owner.address, signatureType })).status).toBe(
      200,
    );
  });

  test('its proxy and its Safes, without a record', async () => {
    const ingress = await nextIngress();
    const { proxies, safes } = derivedFrom(owner);
    for (const [signatureType, makers] of [
      [1, proxies],
      [2, safes],
    ] as const) {
      for (const maker of makers) {
        expect((await orderBy(owner, ingress, { maker, signatureType })).status).toBe(200);
      }
    }
    expect((await accountAction(owner, ingress, proxies[0] ?? '')).status).toBe(200);
    expect(topic.records).toEqual([]);
  });

  test.each([1, 2, 3])(
    'a wallet that the operator bound to it, with type %i, also after a restart',
    async (signatureType) => {
      const ingress = await nextIngress();
      expect((await orderBy(owner, ingress, { signatureType })).body).toMatchObject(foreign);
      const binding = { wallet: wallet as WalletAddress, owner: owner.address as WalletAddress };
      expect(await ingress.bindings.bind([binding], 'ann')).toEqual(['bound']);
      for (const at of [ingress, await nextIngress()]) {
        expect((await orderBy(owner, at, { signatureType })).status).toBe(200);
        expect((await accountAction(owner, at, wallet)).status).toBe(200);
        const refused = await orderBy(stranger, at, { signatureType });
        expect([refused.status, refused.body]).toMatchObject([400, foreign]);
      }
      expect(topic.records).toHaveLength(1);
    },
  );
});

describe('a reserved address', () => {
  const url = '/auth/api-key';
  const reserved = { error: refusalText('wallet_reserved'), code: 'wallet_reserved' };

  /** The fee wallet is an address whose holder made keys before it was configured. */
  async function feeIngress() {
    topic.feeWallet = owner.address as WalletAddress;
    return await nextIngress();
  }

  test('gets no key of any kind, neither made nor derived', async () => {
    const ingress = await feeIngress();
    ingress.services.accounts.signatures.attest = () => 'family';
    const headers = {
      [names.address]: owner.address,
      [names.signature]: `0x${'11'.repeat(65)}`,
      [names.timestamp]: String(Math.floor(ingress.fakes.nowMs / 1000)),
    };
    for (const [method, path] of [
      ['POST', url],
      ['GET', '/auth/derive-api-key'],
    ] as const) {
      const answer = await ingress.app.inject({ method, url: path, headers });
      expect([answer.statusCode, answer.json()]).toEqual([403, reserved]);
    }
    for (const path of ['/auth/readonly-api-key', '/auth/builder-api-key', '/api/v1/agents']) {
      const body = JSON.stringify({ name: 'one' });
      const answer = await call(ingress, { method: 'POST', url: path, body });
      expect([path, answer.status, answer.body]).toEqual([path, 403, reserved]);
    }
    const rotated = `/api/v1/agents/${'0'.repeat(8)}-0000-4000-8000-${'0'.repeat(12)}/rotate`;
    expect((await call(ingress, { method: 'POST', url: rotated })).status).toBe(403);
  });

  test('owns nothing by the keys that exist for it, itself neither', async () => {
    const ingress = await feeIngress();
    const { proxies } = derivedFrom(owner);
    for (const maker of [owner.address, proxies[0] ?? '']) {
      for (const signatureType of [0, 1, 2, 3]) {
        expect((await orderBy(owner, ingress, { maker, signatureType })).body).toMatchObject({
          code: 'signer_mismatch',
        });
      }
      expect((await accountAction(owner, ingress, maker)).body.code).toBe('signer_mismatch');
    }
    expectNothingDone(ingress);
  });
});
