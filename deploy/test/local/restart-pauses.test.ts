import { pauseMsAfter } from '../../src/local/restart-pauses.ts';

const after = (ends: { deaths?: number; waits?: number }) =>
  pauseMsAfter({ deaths: 0, waits: 0, ...ends }) / 1000;

test('pauses before restarts double up to a minute', () => {
  const pauses = [1, 2, 3, 4, 5, 6, 7, 8, 9, 500].map((deaths) => after({ deaths }));
  expect(pauses).toEqual([0, 0.5, 1, 2, 4, 8, 16, 32, 60, 60]);
});

test('a process that waits for an engine is looked after every eight seconds', () => {
  expect([1, 2, 6, 500].map((waits) => after({ waits }))).toEqual([0, 0.5, 8, 8]);
});
