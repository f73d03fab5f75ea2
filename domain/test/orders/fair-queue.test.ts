import { FairQueue } from '../../src/orders/fair-queue.ts';

function drained(queue: FairQueue<string>): readonly string[] {
  const items: string[] = [];
  for (let item = queue.shift(); item !== undefined; item = queue.shift()) items.push(item);
  return items;
}

test('clients are served in rotation, and the wallets of a client share its part', () => {
  const queue = new FairQueue<string>();
  for (const item of ['a1', 'a2', 'a3']) queue.push({ client: 'flood', wallet: 'a' }, item);
  for (const item of ['b1', 'b2']) queue.push({ client: 'flood', wallet: 'b' }, item);
  queue.push({ client: 'good', wallet: 'c' }, 'c1');
  expect(drained(queue)).toEqual(['a1', 'c1', 'b1', 'a2', 'b2', 'a3']);
});

test('the items of one caller keep their order, and an item of another is next but one', () => {
  const queue = new FairQueue<string>();
  for (let item = 0; item < 1_000; item += 1) queue.push({ client: 'x', wallet: 'x' }, `x${item}`);
  expect(queue.shift()).toBe('x0');
  queue.push({ client: 'y', wallet: 'y' }, 'y0');
  expect([queue.shift(), queue.shift()]).toEqual(['x1', 'y0']);
  expect(drained(queue)[0]).toBe('x2');
});
