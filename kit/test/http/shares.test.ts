import { Shares } from '../../src/http/shares.ts';
import { seeded } from '../seeded.ts';

const limits = { ofEach: 10, inAll: 25 };

test('what holders have stays within both limits, and what is given back is there again', () => {
  const random = seeded(20_261_129);
  const shares = new Shares(limits);
  const held: { readonly holder: string; readonly amount: number }[] = [];
  const sumOf = (of: (holder: string) => boolean) =>
    held.reduce((sum, { holder, amount }) => (of(holder) ? sum + amount : sum), 0);
  let [taken, refused] = [0, 0];
  for (let step = 0; step < 5_000; step += 1) {
    const [holder, amount] = [`holder ${random(6)}`, 1 + random(4)];
    const fits =
      sumOf((one) => one === holder) + amount <= limits.ofEach &&
      sumOf(() => true) + amount <= limits.inAll;
    const wasTaken = shares.take(holder, amount);
    // An assertion takes longer than the step.
    if (wasTaken !== fits) expect({ step, wasTaken }).toEqual({ step, wasTaken: fits });
    if (fits) held.push({ holder, amount });
    [taken, refused] = fits ? [taken + 1, refused] : [taken, refused + 1];
    if (random(2) === 0) continue;
    const [gone] = held.splice(random(Math.max(1, held.length)), 1);
    if (gone !== undefined) shares.giveBack(gone.holder, gone.amount);
    const found = [shares.all, shares.holders];
    const expected = [sumOf(() => true), new Set(held.map((one) => one.holder)).size];
    if (found.join() !== expected.join()) expect(found).toEqual(expected);
  }
  expect(Math.min(taken, refused)).toBeGreaterThan(500);
});

test('of holders that have nothing any more a bounded number is kept, whichever came first', () => {
  const shares = new Shares({ ofEach: 1, inAll: 3_000 });
  const holders = Array.from({ length: 3_000 }, (_, index) => `holder ${index}`);
  for (const holder of holders) {
    shares.take(holder, 1);
    shares.giveBack(holder, 1);
    expect(shares.kept).toBeLessThanOrEqual(1_001);
  }
  for (const holder of holders) shares.take(holder, 1);
  expect(shares.kept).toBe(3_000);
  for (const holder of holders) shares.giveBack(holder, 1);
  expect(shares.all).toBe(0);
  expect(shares.kept).toBeLessThanOrEqual(1_001);
  const kept = shares.kept;
  shares.take('another', 1);
  shares.giveBack('another', 1);
  expect(shares.kept).toBe(kept + 1);
});
