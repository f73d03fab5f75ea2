import { derivedWalletsOf } from '@pm/domain/accounts/derived-wallets';
import { defaultFeeWallet } from '@pm/domain/accounts/reserved-addresses';
import { hexBytes, type WalletAddress, walletFromBytes } from '@pm/schemas/ids';
import { signatureTypes } from '@pm/schemas/signing';
import { testDomain } from '../../../kit/test/signing-domain.ts';
import {
  call,
  type IngressUnderTest,
  openIngress,
  owner,
  placeOne,
  signedItem,
  testOrder,
} from '../ingress-fixture.ts';
import { join } from '../keys-fixture.ts';
import { addressOf, OwnersTopic, ownerRecord } from '../owners-fixture.ts';
import { walletOf } from '../wallet-fixture.ts';

// Every kind of wallet, signature type and signer, by the holder of a key; the ledger has money for every wallet.
const stranger = walletOf(9);
const derivedOf = (address: string) => {
  const { proxies, safes } = derivedWalletsOf(hexBytes(address as WalletAddress));
  const [proxy, safe, otherSafe] = [...proxies, ...safes].map(walletFromBytes);
  return { proxy: proxy ?? '', safe: safe ?? '', otherSafe: otherSafe ?? '' };
};
const mine = derivedOf(owner.address);
const theirs = derivedOf(stranger.address);
const [bound, foreign, free] = [addressOf(0x44), addressOf(0x45), addressOf(0x46)];

/** Wallets, and whether the holder of the key may use them. */
const wallets: readonly (readonly [string, string, boolean])[] = [
  ['the own address', owner.address, true],
  ['the own proxy', mine.proxy, true],
  ['the own Safe', mine.safe, true],
  ['the own Safe of the other factory', mine.otherSafe, true],
  ['a contract that an operator bound to the holder', bound, true],
  ['a contract that an operator bound to another', foreign, false],
  ['a contract that no operator bound', free, false],
  ['a contract that a signature claimed in an earlier version', addressOf(0x47), false],
  ['the address of another holder of a key', stranger.address, false],
  ['the proxy of another holder of a key', theirs.proxy, false],
  ['the Safe of another holder of a key', theirs.safe, false],
  ['an address without a key', walletOf(13).address, false],
  ['the proxy of an address without a key', derivedOf(walletOf(13).address).proxy, false],
  ['the wallet of the fees', defaultFeeWallet, false],
  ['the zero address', `0x${'0'.repeat(40)}`, false],
  ['an exchange contract', testDomain.exchange, false],
];

let ingress: IngressUnderTest;
beforeAll(async () => {
  const topic = new OwnersTopic();
  topic.records.push(
    ownerRecord(bound, owner.address),
    ownerRecord(foreign, stranger.address),
    ownerRecord(addressOf(0x47), owner.address, { boundBy: '' }),
    ownerRecord(defaultFeeWallet, owner.address),
    ownerRecord(testDomain.exchange, owner.address),
  );
  ingress = await openIngress(topic);
  await join(ingress, stranger);
});
afterAll(() => ingress.app.close());

const table = wallets.flatMap(([what, maker, isOwned]) =>
  signatureTypes.flatMap((type) =>
    [...new Set([owner.address, maker, stranger.address])].map((signer) => {
      const isSigner = type === 3 ? signer === maker : signer === owner.address;
      // An order without a contract wallet pays by its signer's own address.
      const fitsType = type !== 0 || maker === owner.address;
      return { what, maker, type, signer, isTaken: isOwned && isSigner && fitsType };
    }),
  ),
);

test('the table has wallets that are taken and refused of every signature type', () => {
  expect(table.length).toBeGreaterThan(150);
  for (const type of signatureTypes) {
    const taken = table.filter((one) => one.type === type && one.isTaken);
    expect(new Set(taken.map(({ maker }) => maker)).size).toBe(type === 0 ? 1 : 5);
  }
});

test.each(table)(
  'an order of type $type of $what, signer $signer: taken $isTaken',
  async ({ maker, type, signer, isTaken }) => {
    const sent = ingress.fakes.sent.length;
    const { item } = signedItem(testOrder({ maker, signer, signatureType: type }));
    const { body } = await placeOne(ingress, item);
    expect(ingress.fakes.sent.length - sent).toBe(isTaken ? 1 : 0);
    if (isTaken) expect(body).toMatchObject({ success: true });
    else expect(body).toMatchObject({ success: false, code: 'signer_mismatch' });
  },
);

test.each(wallets)('a withdrawal from %s, %s: paid %s', async (_what, wallet, isOwned) => {
  const paid = ingress.fakes.transfers.length;
  const body = JSON.stringify({ amount: '1', id: `out-${wallet}`, wallet });
  const answer = await call(ingress, { method: 'POST', url: '/account/withdrawals', body });
  expect(answer.status).toBe(isOwned ? 200 : 400);
  expect(ingress.fakes.transfers.length - paid).toBe(isOwned ? 1 : 0);
});
