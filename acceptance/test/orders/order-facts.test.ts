import {
  type FillFacts,
  type OrderFacts,
  type OrderSource,
  orderDifferences,
} from './order-facts.ts';

const fill: FillFacts = {
  trade: '0-17-2',
  role: 'TAKER',
  token: '11',
  side: 'BUY',
  price: '0.52',
  size: '3',
  fee: '0.01',
  feeRateBps: '441',
  transactionHash: '0xaa',
};
const secondFill: FillFacts = { ...fill, trade: '0-19-0', role: 'MAKER', size: '2', fee: '0' };
const order: OrderFacts = {
  wallet: '0x01',
  market: '0x02',
  token: '11',
  side: 'BUY',
  type: 'GTC',
  price: '0.52',
  size: '8',
  status: 'CANCELED',
  filledMicro: 5_000_000,
  reasons: ['user'],
  fills: [fill, secondFill],
};
const other: OrderFacts = {
  ...order,
  status: 'REFUSED',
  reasons: ['fok_not_filled'],
  filledMicro: 0,
  fills: [],
};
const sourceNames = ['REST', 'stream', 'tables'];

/** Three sources that agree, but for what `change` makes of the first order in one of them. */
function sources(changed = '', change: Partial<OrderFacts> = {}): readonly OrderSource[] {
  return sourceNames.map((name) => ({
    name,
    orders: new Map([
      ['0xa', name === changed ? { ...order, ...change } : order],
      ['0xb', other],
    ]),
  }));
}

test('sources that say the same, or nothing, of each order have no differences', () => {
  expect(orderDifferences(sources())).toEqual([]);
  const silent = { price: null, status: null, reasons: null, fills: null, filledMicro: null };
  for (const name of sourceNames) expect(orderDifferences(sources(name, silent))).toEqual([]);
  const reversed = { fills: [secondFill, { ...fill, fee: null, transactionHash: null }] };
  for (const name of sourceNames) expect(orderDifferences(sources(name, reversed))).toEqual([]);
});

const orderMutants: readonly Partial<OrderFacts>[] = [
  { wallet: '0x03' },
  { market: '0x03' },
  { token: '12' },
  { side: 'SELL' },
  { type: 'GTD' },
  { price: '0.53' },
  { size: '9' },
  { status: 'MATCHED' },
  { reasons: ['expired'] },
  { reasons: [] },
  { reasons: ['user', 'matched'] },
  { reasons: ['user', 'user'] },
  { filledMicro: 4_999_999 },
  { fills: [fill] },
  { fills: [fill, secondFill, secondFill] },
  { fills: [fill, secondFill, { ...secondFill, trade: '0-20-0' }] },
];

test.each(orderMutants)('a difference in any source is found: %j', (change) => {
  for (const name of sourceNames) {
    const found = orderDifferences(sources(name, change));
    expect(found.length).toBeGreaterThan(0);
    expect(found.every((line) => line.startsWith('0xa: '))).toBe(true);
  }
});

const fillMutants: readonly Partial<FillFacts>[] = [
  { trade: '0-18-2' },
  { role: 'MAKER' },
  { token: '12' },
  { side: 'SELL' },
  { price: '0.53' },
  { size: '3.000001' },
  { fee: '0.02' },
  { feeRateBps: '0' },
  { transactionHash: '0xab' },
];

test.each(fillMutants)('a difference in a fill is found: %j', (change) => {
  for (const name of sourceNames) {
    const fills = [{ ...fill, ...change }, secondFill];
    expect(orderDifferences(sources(name, { fills })).length).toBeGreaterThan(0);
  }
});

test('an order that one source does not have is named with the source', () => {
  const [first, ...rest] = sources();
  const without: OrderSource = { name: 'REST', orders: new Map([['0xa', order]]) };
  expect(orderDifferences([without, ...rest])).toEqual(['0xb: REST does not have it']);
  const more = new Map([...(first?.orders ?? []), ['0xc', other] as const]);
  const found = orderDifferences([{ name: 'REST', orders: more }, ...rest]);
  expect(found).toEqual(['0xc: stream does not have it', '0xc: tables does not have it']);
});
