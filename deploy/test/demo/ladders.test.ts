import { Ladders, ladderOrders } from '../../src/demo/ladders.ts';
import { recordedTrades } from '../../src/demo/recordings.ts';

const market = { slug: 'one', conditionId: '0x11', tokenIds: ['10', '11'] } as const;
const [trade] = recordedTrades();
if (trade === undefined) throw new Error('a recorded trade');

/** Prices of token 0 of the BUY orders of each token, lowest first. */
function pricesOf(ticks: number) {
  const orders = ladderOrders(market, ticks);
  const of = (tokenId: string) => orders.filter((order) => order.tokenId === tokenId);
  const bids = of('10').map(({ price }) => Number(price));
  const asks = of('11').map(({ price }) => (1_000 - Math.round(Number(price) * 1_000)) / 1_000);
  return { bids: bids.sort(), asks: asks.sort() };
}

test('a ladder has six levels on each side of the price, in one request', () => {
  expect(pricesOf(970)).toEqual({
    bids: [0.964, 0.965, 0.966, 0.967, 0.968, 0.969],
    asks: [0.971, 0.972, 0.973, 0.974, 0.975, 0.976],
  });
  expect(ladderOrders(market, 970).length).toBeLessThanOrEqual(15);
});

test('levels outside of the grid are left out', () => {
  expect(pricesOf(2)).toEqual({
    bids: [0.001],
    asks: [0.003, 0.004, 0.005, 0.006, 0.007, 0.008],
  });
  expect(pricesOf(999).asks).toEqual([]);
});

test('a ladder is replaced when the price of the last trade changes', async () => {
  const sent: string[] = [];
  const ladders = new Ladders({
    cancelMarket: async (conditionId) => void sent.push(`cancel ${conditionId}`),
    place: async (orders) => {
      sent.push(`place ${orders.length}`);
      return [];
    },
  });
  const at = (price: number) => ladders.follow({ ...trade, outcome: 0, price }, market);
  await at(0.97);
  await at(0.97);
  await ladders.follow({ ...trade, outcome: 1, price: 0.03 }, market);
  await at(0.971);
  expect(sent).toEqual(['cancel 0x11', 'place 12', 'cancel 0x11', 'place 12']);
});
