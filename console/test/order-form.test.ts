import { feeMicro } from '@pm/schemas/money';
import type { Book } from '../src/market/ladder.ts';
import { decimalOfCents, previewOf, readTicket, type Ticket } from '../src/trade/order-form.ts';

const rules = { tick: '0.01', minSize: 5, feeRateBps: 300 };
const ticket: Ticket = {
  side: 'BUY',
  kind: 'GTC',
  price: '55',
  size: '30',
  postOnly: false,
  minutes: '60',
};
const book: Book = {
  bids: [{ price: '0.52', size: '30' }],
  asks: [
    { price: '0.54', size: '10' },
    { price: '0.55', size: '15' },
    { price: '0.6', size: '100' },
  ],
};

test.each([
  ['52', '0.52'],
  ['52.5', '0.525'],
  ['0.25', '0.0025'],
  ['7', '0.07'],
  ['100', '1.0'],
  ['', null],
  ['5e1', null],
  ['-5', null],
  ['1.234', null],
])('%s cents are %s', (cents, decimal) => {
  expect(decimalOfCents(cents)).toBe(decimal);
});

test.each([
  [{}, null],
  [{ price: '0' }, 'between'],
  [{ price: '100' }, 'between'],
  [{ price: '55.5' }, 'multiple of 1¢'],
  [{ size: '4' }, 'At least 5'],
  [{ size: '10.005' }, 'hundredths'],
  [{ size: 'ten' }, 'hundredths'],
  [{ kind: 'GTD', minutes: '1' }, 'minutes'],
  [{ kind: 'GTD', minutes: 'x' }, 'minutes'],
] as const)('a ticket with %j says what is wrong: %s', (changes, text) => {
  const read = readTicket({ ...ticket, ...changes }, rules);
  if (text === null) expect(read).toEqual({ price: '0.55', size: '30' });
  else expect('error' in read ? read.error : '').toContain(text);
});

const preview = (changes: Partial<Ticket>) => {
  const changed = { ...ticket, ...changes };
  const read = readTicket(changed, rules);
  if ('error' in read) throw new Error(read.error);
  return previewOf(read, changed, rules, book);
};

test('a buy meets asks up to its limit, pays the fee of each, and the rest waits', () => {
  const found = preview({});
  expect([found.filled, found.filledCost, found.rest, found.restCost]).toEqual([
    25, 13.65, 5, 2.75,
  ]);
  expect(found.averagePrice).toBeCloseTo(54.6 / 100);
  expect(found.fee * 1e6).toBeCloseTo(feeMicro(5_400, 10e6, 300) + feeMicro(5_500, 15e6, 300));
});

test('a sell meets bids down to its limit', () => {
  const found = preview({ side: 'SELL', price: '50' });
  expect([found.filled, found.filledCost, found.rest, found.restCost]).toEqual([30, 15.6, 0, 0]);
});

test.each([
  [{ kind: 'FOK' }, 0, 'cannot fill it whole'],
  [{ kind: 'FOK', size: '25' }, 25, 'whole at once'],
  [{ kind: 'FAK' }, 25, 'the rest is canceled'],
  [{ kind: 'FAK', price: '40' }, 0, 'no level within'],
  [{ postOnly: true }, 0, 'post-only'],
  [{ postOnly: true, price: '53' }, 0, 'Waits in the book'],
] as const)('an order with %j trades %d shares: %s', (changes, filled, text) => {
  const found = preview(changes);
  expect(found.filled).toBe(filled);
  expect(found.outcome).toContain(text);
});
