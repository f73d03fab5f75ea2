import { Engine } from '../../../src/core/index.ts';
import {
  envelopeOf,
  marketRules,
  oneShareMicro,
  opening,
  orderOf,
  partition,
  splitOf,
  walletOf,
} from '../commands.ts';

describe('a position that ends while its wallet trades', () => {
  const share = { sizeMicro: oneShareMicro };

  it('is not closed early when the taker clears the last order of its own wallet', () => {
    const engine = new Engine(partition);
    engine.apply(envelopeOf([opening, marketRules(1)], 'OPERATOR'), 0);
    const own = orderOf(1, 1, { ...share, outcome: 1 });
    const other = orderOf(2, 2, { ...share, outcome: 1 });
    const taker = orderOf(3, 1, { ...share, selfTrade: 'CANCEL_OLDEST' });
    engine.apply(envelopeOf([own, other, taker]), 1);
    engine.assertInvariants();
  });

  it('is not closed early when the wallet merges its last pair with itself', () => {
    const engine = new Engine(partition);
    engine.apply(envelopeOf([opening, marketRules(1)], 'OPERATOR'), 0);
    const sells = { ...share, side: 'SELL' } as const;
    const orders = [
      orderOf(1, 1, { ...sells, outcome: 1 }),
      orderOf(2, 1, { ...sells, selfTrade: 'ALLOW' }),
    ];
    const { events } = engine.apply(envelopeOf([splitOf(1, 1, oneShareMicro), ...orders]), 1);
    engine.assertInvariants();
    expect(events.find(({ kind }) => kind === 'Fill')).toMatchObject({ match: 'MERGE' });
    expect(events.filter(({ kind }) => kind === 'MoneyMoved')).toEqual([]);
    expect(walletOf(1)).toEqual(orders[0]?.maker);
  });
});
