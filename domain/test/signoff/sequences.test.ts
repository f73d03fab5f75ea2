import { Sequences } from '../../src/signoff/sequences.ts';

test('sequences rise within a millisecond and from process to process', () => {
  const first = new Sequences();
  expect([first.next(5), first.next(5), first.next(4), first.next(6)]).toEqual([
    5_000, 5_001, 5_002, 6_000,
  ]);
  expect(new Sequences().next(7)).toBeGreaterThan(first.next(6));
});

test('sequences go on after those that the log has accepted', () => {
  const sequences = new Sequences();
  sequences.pass(9_000);
  expect([sequences.next(5), sequences.next(10)]).toEqual([9_001, 10_000]);
});
