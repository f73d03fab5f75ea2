import { newestRules, rules } from '@pm/schemas/log/log-rules';
import type { Command, PlaceOrder } from '@pm/schemas/log/orders';
import type { SelfTrade } from '@pm/schemas/log/types';
import { Engine } from '../../../src/core/index.ts';
import {
  envelopeOf,
  marketRules,
  oneShareMicro,
  opening,
  orderOf,
  partition,
  resultsOf,
  signerOf,
  splitOf,
  walletOf,
} from '../commands.ts';

const seller = 1;
const buyer = 2;
const owner = signerOf(9);

/** A wallet that sells ten shares at 0.50 meets another one that buys them; each by a signer. */
function meet(version: number, buys: Partial<PlaceOrder>, sells: Partial<PlaceOrder>): string[] {
  const engine = new Engine(partition);
  const begun: Command[] = [opening, { kind: 'SetRules', version }, marketRules(1)];
  const events = [
    envelopeOf(begun, 'OPERATOR'),
    envelopeOf([splitOf(1, seller, 10 * oneShareMicro)]),
    envelopeOf([
      orderOf(1, seller, { side: 'SELL', ...sells }),
      orderOf(2, buyer, { side: 'BUY', ...buys }),
    ]),
  ].flatMap((envelope, offset) => engine.apply(envelope, offset).events);
  engine.assertInvariants();
  return resultsOf(events);
}

test.each<[SelfTrade, string[]]>([
  ['CANCEL_NEWEST', ['LIVE', 'self_trade']],
  ['CANCEL_OLDEST', ['LIVE', 'SELF_TRADE', 'LIVE']],
  ['CANCEL_BOTH', ['LIVE', 'SELF_TRADE', 'self_trade']],
])('under %s two wallets of one owner do not trade with each other', (selfTrade, result) => {
  expect(meet(newestRules, { signer: owner, selfTrade }, { signer: owner })).toEqual(result);
});

test('wallets of different owners trade', () => {
  const result = meet(newestRules, { signer: signerOf(8) }, { signer: owner });
  expect(result).toEqual(['LIVE', 'fill 10', 'MATCHED']);
});

test('a wallet does not trade with itself, also where two owners signed its orders', () => {
  const buys = { maker: walletOf(seller), signer: signerOf(8) };
  expect(meet(newestRules, buys, { signer: owner })).toEqual(['LIVE', 'self_trade']);
});

test('before `selfTradeBySigner` two wallets of one owner trade', () => {
  const before = rules.selfTradeBySigner - 1;
  const result = meet(before, { signer: owner }, { signer: owner });
  expect(result).toEqual(['LIVE', 'fill 10', 'MATCHED']);
});
