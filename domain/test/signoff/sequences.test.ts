import { sequenceRunMs, sequencesPerRun } from '@pm/schemas/log/orders';
import { Sequences } from '../../src/signoff/sequences.ts';

const first = (nowMs: number) => Math.floor(nowMs / sequenceRunMs) * sequencesPerRun;

test('sequences rise by one in a run, and a process that starts later has a larger run', () => {
  const early = new Sequences();
  expect([early.next(640), early.next(640), early.next(0), early.next(9_999)]).toEqual(
    [0, 1, 2, 3].map((count) => first(640) + count),
  );
  expect(new Sequences().next(704)).toBe(first(704));
});

test('processes that start at one moment have runs of their own', () => {
  expect(new Sequences(3).next(640)).toBe(first(640 + 3 * sequenceRunMs));
});

test('a full run is followed by another, never by an earlier one', () => {
  const sequences = new Sequences();
  for (let count = 0; count < sequencesPerRun; count += 1) sequences.next(640);
  expect(sequences.next(0)).toBe(first(704));
});

test('another run begins where this one was refused, once', () => {
  const sequences = new Sequences();
  const refused = [sequences.next(640), sequences.next(640)];
  for (const sequence of refused) sequences.leaveRunOf(sequence, 6_400);
  expect(sequences.next(6_400)).toBe(first(6_400));
});

test('sequences go on after one that is passed', () => {
  const sequences = new Sequences();
  sequences.pass(first(6_400) + 7);
  expect([sequences.next(640), sequences.next(640)]).toEqual([first(6_464), first(6_464) + 1]);
  sequences.pass(first(640));
  expect(sequences.next(640)).toBe(first(6_464) + 2);
});
