import { QueryReader } from '@pm/domain/reading/query-reader';
import { ReadRefusal } from '@pm/domain/reading/refusal';
import { readRebatesQuery } from '../../src/reports/rebates.ts';
import { nowMs, wallet } from '../in-memory.ts';

const timeOf = (at: string) => new QueryReader({ at }, 'gamma').time('at');

describe('a time in a query', () => {
  it.each([
    ['2026-01-31', Date.UTC(2026, 0, 31)],
    ['2026-01-31T12:30', Date.UTC(2026, 0, 31, 12, 30)],
    ['2026-01-31T12:30:15.123456', Date.UTC(2026, 0, 31, 12, 30, 15, 123)],
    ['2026-01-31T12:30:15Z', Date.UTC(2026, 0, 31, 12, 30, 15)],
    ['2026-01-31T12:30:15+02:00', Date.UTC(2026, 0, 31, 10, 30, 15)],
    ['1960-06-01', Date.UTC(1960, 5, 1)],
  ])('%s is UTC unless it names a zone', (text, timeMs) => {
    expect(timeOf(text)).toBe(timeMs);
  });

  it.each([
    '2026-02-30',
    '2026-02-30T00:00:00Z',
    '2026-04-31T12:00:00+02:00',
    '2026-13-01',
    '2026-01-01T24:00:00Z',
    '2026-01-01T12:60Z',
    '2026-01-01 12:00',
    'soon',
  ])('%s is refused', (at) => {
    const read = new QueryReader({ at }, 'gamma');
    expect([read.time('at'), read.refusal?.text]).toEqual([null, 'invalid at']);
  });

  it('is a day of the calendar where a day is requested for', () => {
    const ask = (date: string) => readRebatesQuery({ maker_address: wallet(1), date }, nowMs);
    expect(ask('2026-02-28')).toMatchObject({ date: '2026-02-28' });
    expect(ask('2026-02-30')).toEqual(new ReadRefusal(400, 'invalid date'));
  });
});

describe('a text in a query', () => {
  it('is bounded in characters, also of those that take two units', () => {
    const ask = (title: string) => {
      const read = new QueryReader({ title }, 'data');
      return [read.text('title', 100), read.refusal?.text];
    };
    expect(ask('🚀'.repeat(100))).toEqual(['🚀'.repeat(100), undefined]);
    for (const long of ['a'.repeat(101), '🚀'.repeat(101), `${'🚀'.repeat(99)}ab`]) {
      expect(ask(long)).toEqual([null, 'invalid_field: title']);
    }
  });
});
