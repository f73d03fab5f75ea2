import { WaitingShares } from '../../src/commands/waiting-shares.ts';

const limits = { total: 20, reserve: 4, perWallet: 5, perClient: 8 };
const waiter = (wallet: string, client = wallet) => ({ wallet, client });

function takes(shares: WaitingShares, count: number, wallet: string, client = wallet): number {
  return Array.from({ length: count }).filter(() => shares.take(waiter(wallet, client), false))
    .length;
}

test('one wallet and one address get their shares and no more', () => {
  const shares = new WaitingShares(limits);
  expect(takes(shares, 10, 'one', 'a')).toBe(5);
  expect(takes(shares, 10, 'two', 'a')).toBe(3);
  expect(shares.take(waiter('three', 'a'), true)).toBe(false);
  expect(takes(shares, 10, 'three', 'b')).toBe(5);
});

test('cancels find a place when everything else is full', () => {
  const shares = new WaitingShares(limits);
  for (const wallet of ['one', 'two', 'three', 'four']) takes(shares, 5, wallet);
  expect(shares.count).toBe(16);
  expect(shares.take(waiter('good'), false)).toBe(false);
  expect(shares.take(waiter('good'), true)).toBe(true);
  expect(shares.take(null, true)).toBe(true);
});

test('several places are taken together or not at all', () => {
  const shares = new WaitingShares(limits);
  expect(shares.take(waiter('one'), false, 4)).toBe(true);
  expect(shares.take(waiter('one'), false, 2)).toBe(false);
  expect(shares.take(waiter('one'), false, 1)).toBe(true);
  shares.leave(waiter('one'), 4);
  expect(shares.count).toBe(1);
});

test('a place that is given back is free, and nothing is kept of those who left', () => {
  const shares = new WaitingShares(limits);
  for (let round = 0; round < 1_000; round += 1) {
    const one = waiter(`wallet ${round % 7}`, 'a');
    expect(shares.take(one, false)).toBe(true);
    shares.leave(one);
  }
  expect(shares.count).toBe(0);
  expect(takes(shares, 10, 'one')).toBe(5);
});
