import { busyShare, coreTimes, type PartTimes, timesText } from '@pm/deploy/commands/test-times';

const core = (user: number, sys: number, idle: number) => ({
  times: { user, nice: 0, sys, idle, irq: 0 },
});

test('the share of cores that worked counts all cores and everything but idle time', () => {
  const before = coreTimes([core(100, 0, 900), core(0, 0, 1_000)]);
  const after = coreTimes([core(700, 300, 900), core(0, 0, 2_000)]);
  expect(before).toEqual({ busyMs: 100, idleMs: 1_900 });
  expect(busyShare(before, after)).toBeCloseTo(900 / 1_900);
  expect(busyShare(before, before)).toBe(0);
});

test('the text has each part, and the ten slowest suites of those that have suites', () => {
  const suites = Array.from({ length: 12 }, (_, index) => ({ name: `s${index}`, seconds: index }));
  const unit: PartTimes = { seconds: 61.4, busyShare: 0.934, suites };
  const smoke: PartTimes = { seconds: 9, busyShare: 0.5, suites: [] };
  const lines = timesText(
    new Map([
      ['unit', unit],
      ['smoke', smoke],
    ]),
  ).split('\n');
  expect(lines.slice(0, 6)).toEqual([
    'part   seconds  cores busy',
    'unit   61       93 %',
    'smoke  9        50 %',
    '',
    'slowest of unit, seconds',
    '   11  s11',
  ]);
  expect(lines).toHaveLength(15);
  expect(lines.at(-1)).toBe('    2  s2');
});
