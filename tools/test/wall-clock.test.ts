import { wallClockProblems } from '../src/wall-clock.ts';

/** Messages of the rule about one line. */
function said(text: string, path = 'kit/src/lease.io.ts'): readonly string[] {
  return wallClockProblems(path, text).map(({ message }) => message);
}

const difference = 'a difference of times is monotonic';
const argument = 'the clock is an argument (@pm/kit/clock)';

test.each([
  ['if (clock.nowMs() - sentMs < everyMs) send();', difference],
  ['const left = untilMs - this.#parts.clock.nowMs();', difference],
  ['const f = () => nowMs() >= untilMs;', difference],
  ['class A { f() { return this.#nowMs() - this.#sentMs; } }', difference],
  ['const atMs = clock.nowMs(); if (atMs - sentMs < everyMs) send();', difference],
  ['const atMs = Date.now();', argument],
  ['const clock = Date.now;', argument],
  ['const at = new Date();', argument],
  ['const at = Date();', argument],
])('refuses %s', (text, message) => {
  expect(said(text)).toContain(message);
});

test.each([
  'if (clock.monotonicMs() - sentMs < everyMs) send();',
  'const record = { timeMs: clock.nowMs() };',
  'const seconds = Math.floor(clock.nowMs() / 1000);',
  'const endsAtMs = clock.nowMs() + windowMs;',
  'const at = new Date(timeMs).toISOString();',
])('takes %s', (text) => {
  expect(said(text)).toEqual([]);
});

test('judges the sources of programs, not their tests or the client', () => {
  expect(said('const at = Date.now();', 'kit/test/lease.test.ts')).toEqual([]);
  expect(said('const at = Date.now();', 'client/src/connection.ts')).toEqual([]);
});

test('names the line', () => {
  expect(wallClockProblems('kit/src/a.io.ts', 'f();\nconst at = Date.now();')).toEqual([
    { line: 2, message: argument },
  ]);
});
