import type { ExportedTable, Manifest } from '../../src/export/manifest.ts';
import { summaryLines, tableLine } from '../../src/export/output.ts';

const table: ExportedTable = {
  table: 'fills',
  kind: 'facts',
  file: 'fills.parquet',
  takenAt: '2026-06-05T10:00:00.000Z',
  bytes: 900,
  sha256: '0'.repeat(64),
  order: [],
  columns: [],
  rows: 7,
  contentHash: '1',
  partitions: null,
};

const manifest: Manifest = {
  format: 1,
  day: '2026-06-01',
  database: 'pm',
  writtenAt: '2026-06-05T10:00:00.000Z',
  from: '2026-06-01T00:00:00.000Z',
  to: '2026-06-02T00:00:00.000Z',
  completeness: [],
  tables: [table],
  leftOut: [],
};

const summary = (changes: Partial<Manifest>, first: string | null) =>
  summaryLines(
    { ...manifest, ...changes },
    { folder: 'there', firstMs: first === null ? null : Date.parse(first) },
  );

describe('the output of an export', () => {
  test('marks states as of when they were read', () => {
    expect(tableLine(table)).toMatch(/^fills +7 rows 900 bytes$/);
    expect(tableLine({ ...table, kind: 'state' })).toMatch(
      /900 bytes, as of 2026-06-05T10:00:00.000Z, independent of the day$/,
    );
  });

  test('calls a day whole, or states its end', () => {
    expect(summary({}, '2026-05-01')).toEqual(['2026-06-01 is whole: 1 tables in there']);
    expect(summary({ partial: true, to: '2026-06-01T12:00:00.000Z' }, '2026-05-01')).toEqual([
      '2026-06-01 up to 2026-06-01T12:00:00.000Z: 1 tables in there',
    ]);
  });

  test('notes that a day is before the first record', () => {
    expect(summary({}, '2026-06-02')[1]).toContain(
      'before the first record (2026-06-02T00:00:00.000Z)',
    );
    expect(summary({}, '2026-06-01T23:59:59.999Z')).toHaveLength(1);
    expect(summary({}, null)[1]).toContain('no market was listed yet');
  });
});
