import type { Dice } from './dice.ts';

/** Texts that have broken software: SQL, wildcards, encodings, numbers that are none, ids that nearly are. */
export const hostileTexts: readonly string[] = [
  ...["' OR 1=1 --", "'; DROP TABLE positions; --", '{wallet:String}', '%', '_', '\\', '%%', '*'],
  ...['null', 'undefined', 'NaN', 'Infinity', 'true', 'TRUE', '[object Object]', '{{x}}'],
  ...['', ' ', '\u0000', '\n', '\r\nX-Injected: 1', '\ud800', '💥', 'é'.repeat(200), '\u202e', '١'],
  ...['-0', '0', '1', '-1', '00', ' 1', '+1', '1_000', '0.1', '.5', '1.', '1e3', '1E-7', '1e309'],
  ...['9'.repeat(16), '9'.repeat(78), '9'.repeat(79), '9'.repeat(400), '0x', '0x10', '0xzz'],
  ...[`0x${'f'.repeat(40)}`, `0x${'f'.repeat(41)}`, `0x${'f'.repeat(64)}`, `0x${'0'.repeat(130)}`],
  ...['../../etc/passwd', '<script>', ',', ',,,', 'id,slug', 'a,b,c', 'BUY', 'DESC', 'TITLE'],
  ...[
    '1d',
    'max',
    'MA==',
    'LTE=',
    'LTI=',
    'WyJpZCIsMSwxXQ',
    'WyJpZCIsbnVsbCxudWxsXQ',
    'OTk5OTk5OTk=',
  ],
  ...[
    '2026-02-30T99:00:00Z',
    '2026-01-01',
    '00000000-0000-4000-8000-000000000000',
    'x'.repeat(3_000),
  ],
];

/** Names that mean something to JavaScript or to parsers of queries, and unknown ones. */
export const hostileNames: readonly string[] = [
  ...['__proto__', 'constructor', 'prototype', 'toString', 'hasOwnProperty', 'valueOf', 'then'],
  ...['x[]', 'x[y]', '%00', '', 'length', 'toJSON', 'x'.repeat(300), '💥', 'a.b', '$where'],
];

/** Numbers at the edges of what JSON, doubles and 64 bits can say. */
const hostileNumbers: readonly number[] = [
  ...[0, -0, 1, -1, 0.5, 1e-7, 5.2e6, 2 ** 31, 2 ** 32, 2 ** 53 - 1, 2 ** 53, 2 ** 63, 2 ** 64],
  ...[1e21, 1e300, Number.MAX_VALUE, Number.MIN_VALUE, -(2 ** 53)],
];

/** Any JSON value; `depth` bounds its nesting. */
export function hostileValue(dice: Dice, depth = 3): unknown {
  const kind = dice.below(depth > 0 ? 8 : 5);
  if (kind === 0) return dice.pick(hostileNumbers);
  if (kind === 1) return dice.pick([null, true, false]);
  if (kind <= 4) return dice.pick(hostileTexts);
  const count = dice.below(4);
  if (kind === 5) return Array.from({ length: count }, () => hostileValue(dice, depth - 1));
  const entries = Array.from({ length: count }, () => [
    dice.pick(hostileNames),
    hostileValue(dice, depth - 1),
  ]);
  return Object.fromEntries(entries) as unknown;
}
