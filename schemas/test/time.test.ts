import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { parseTime } from '@pm/schemas/time';
import fc from 'fast-check';

test.each([
  ['2027-01-01', Date.UTC(2027, 0, 1)],
  ['2027-01-01T00:00:00Z', Date.UTC(2027, 0, 1)],
  ['2027-01-01T12:30Z', Date.UTC(2027, 0, 1, 12, 30)],
  ['2027-01-01T12:30:15.5Z', Date.UTC(2027, 0, 1, 12, 30, 15, 500)],
  ['2025-12-16T20:14:35.988138Z', Date.UTC(2025, 11, 16, 20, 14, 35, 988)],
  ['2027-01-01T01:00:00+02:00', Date.UTC(2026, 11, 31, 23)],
  ['2027-01-01T23:00:00-05:30', Date.UTC(2027, 0, 2, 4, 30)],
  ['2028-02-29', Date.UTC(2028, 1, 29)],
  ['1970-01-01', 0],
])('%s is a time', (text, timeMs) => {
  expect(parseTime(text)).toBe(timeMs);
});

test.each([
  '2026-02-30',
  '2027-02-29T00:00:00Z',
  '2026-04-31T12:00:00+02:00',
  '2026-13-01',
  '2026-00-10',
  '2026-01-00',
  '2026-01-01T24:00:00Z',
  '2026-01-01T25:00Z',
  '2026-01-01T12:60Z',
  '2026-01-01T12:00:60Z',
  '2026-01-01T12:00:00+24:00',
  '2026-01-01T12Z',
  '2026-01-01 12:00:00',
  '2026-1-1',
  '20260101',
  '1767225600',
  ' 2026-01-01',
  'soon',
  '',
])('%j is none', (text) => {
  expect(parseTime(text)).toBeNull();
});

test('what names no zone is UTC, also where the clock of the machine is not', () => {
  // A zone counts from the start of a process, so this is one of its own, on what was built.
  const built = pathToFileURL(join(__dirname, '../dist/time.js')).href;
  const code = `import { parseTime } from '${built}'; console.log(parseTime('2027-01-01T12:30:00'))`;
  const env = { ...process.env, TZ: 'America/New_York' };
  const said = execFileSync(process.execPath, ['--input-type=module', '-e', code], { env });
  expect(Number(said)).toBe(Date.UTC(2027, 0, 1, 12, 30));
});

test('whatever a date is written as is read back', () => {
  const years = { min: new Date('0000-01-01'), max: new Date('9999-12-31'), noInvalidDate: true };
  fc.assert(
    fc.property(fc.date(years), (date) => {
      expect(parseTime(date.toISOString())).toBe(date.getTime());
    }),
  );
});
