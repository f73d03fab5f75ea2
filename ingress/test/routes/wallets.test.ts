import { hexBytes, headers as names, refusalText, safesOf, type WalletAddress } from '@pm/schemas';
import {
  call,
  type Door,
  openDoor,
  owner,
  signedItem,
  testOrder,
  trioIn,
} from '../door-fixture.ts';
import { OwnersTopic } from '../owners-fixture.ts';
import { hexOf, keccak, type TestWallet, walletOf } from '../wallet-fixture.ts';

const thief = walletOf(9);
const wallet = `0x${'44'.repeat(20)}`;
const foreign = { code: 'signer_mismatch', errorMsg: refusalText('signer_mismatch') };

let topic: OwnersTopic;
let doors: Door[];
beforeEach(() => {
  topic = new OwnersTopic();
  doors = [];
});
afterEach(() => Promise.all(doors.map((door) => door.app.close())));

async function nextDoor(): Promise<Door> {
  const door = await openDoor(topic);
  doors.push(door);
  return door;
}

/** An order of the wallet, signed and sent by somebody with a key of his own. */
async function orderBy(
  who: TestWallet,
  door: Door,
  { maker = wallet, signatureType = 3 }: { maker?: string; signatureType?: number } = {},
) {
  const trio = trioIn(await door.keys.create(who.address as WalletAddress, '0'));
  const signer = signatureType === 3 ? maker : who.address;
  const order = testOrder({ maker, signer, signatureType });
  const { item } = signedItem(order, { owner: trio.apiKey }, who);
  const headers = { [names.address]: who.address };
  const body = JSON.stringify(item);
  return await call(door, { method: 'POST', url: '/order', body, headers, trio });
}

test.each([1, 2, 3])(
  'a wallet of type %i belongs to who signed for it first, also after a restart',
  async (signatureType) => {
    const door = await nextDoor();
    expect((await orderBy(owner, door, { signatureType })).status).toBe(200);
    for (const at of [door, await nextDoor()]) {
      const refused = await orderBy(thief, at, { signatureType });
      expect([refused.status, refused.body]).toMatchObject([400, foreign]);
      expect((await orderBy(owner, at, { signatureType })).status).toBe(200);
    }
    expect(topic.records).toHaveLength(1);
    expect(doors.map(({ fakes }) => fakes.sent.length)).toEqual([2, 1]);
  },
);

test('two doors race for a wallet: one order leaves, the other is refused', async () => {
  const [left, right] = [await nextDoor(), await nextDoor()];
  const answers = await Promise.all([orderBy(owner, left), orderBy(thief, right)]);
  expect(answers.map(({ status }) => status).sort()).toEqual([200, 400]);
  expect(answers.find(({ status }) => status === 400)?.body).toMatchObject(foreign);
  expect(left.fakes.sent.length + right.fakes.sent.length).toBe(1);
});

test('no order and no reservation leaves before the binding has come back', async () => {
  const door = await nextDoor();
  topic.isHeldUp = true;
  const { status, body, headers } = await orderBy(owner, door);
  expect([status, body.code, headers['retry-after']]).toEqual([503, 'overloaded', '1']);
  expect([door.fakes.sent, door.fakes.reserved]).toEqual([[], []]);
  topic.goOn();
  expect((await orderBy(owner, door)).status).toBe(200);
});

test('a binding that breaks is 500 and sends nothing', async () => {
  const door = await nextDoor();
  topic.fault = new Error('a broken assumption');
  const { status, body } = await orderBy(owner, door);
  expect([status, body.code]).toEqual([500, 'internal_error']);
  expect(door.fakes.sent).toEqual([]);
});

test('a Safe belongs to its owner without a record, whoever bound it before his first key', async () => {
  const door = await nextDoor();
  const late = walletOf(11);
  const maker = hexOf(
    safesOf(hexBytes(late.address as WalletAddress), keccak)[0] ?? Buffer.alloc(0),
  );
  expect((await orderBy(thief, door, { maker, signatureType: 1 })).status).toBe(200);
  expect((await orderBy(late, door, { maker, signatureType: 2 })).status).toBe(200);
  expect((await orderBy(thief, door, { maker, signatureType: 1 })).body).toMatchObject(foreign);
  const mine = hexOf(
    safesOf(hexBytes(owner.address as WalletAddress), keccak)[1] ?? Buffer.alloc(0),
  );
  expect((await orderBy(owner, door, { maker: mine, signatureType: 2 })).status).toBe(200);
  expect(topic.records).toHaveLength(1);
});

test('nobody takes the address of somebody who has a key', async () => {
  const door = await nextDoor();
  const taken = await orderBy(thief, door, { maker: owner.address, signatureType: 1 });
  expect([taken.status, taken.body]).toMatchObject([400, foreign]);
  expect(topic.records).toEqual([]);
});
