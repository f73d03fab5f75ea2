import type { Comparison } from '../../src/rebuild/compare.ts';
import { comparisonLine, progressBar } from '../../src/rebuild/output.ts';

function shown(isTTY: boolean, steps: readonly number[]): readonly string[] {
  const texts: string[] = [];
  const bar = progressBar({ isTTY, write: (text) => texts.push(text) });
  for (const done of steps) bar.show(done, 200);
  bar.step('comparing');
  return texts;
}

const same: Comparison = {
  table: 'fills',
  rows: 7,
  servedHash: 'aa',
  rebuiltHash: 'aa',
  difference: null,
};

describe('the progress of a rebuild', () => {
  test('is one line on a terminal, ended before the next step', () => {
    const texts = shown(true, [0, 50, 199, 200]);
    expect(texts.slice(0, 4).every((text) => text.startsWith('\r') && !text.includes('\n'))).toBe(
      true,
    );
    expect(texts.slice(4)).toEqual(['\n', 'comparing\n']);
    expect(texts[2]).toContain(' 99.5 % 199 of 200 records');
    expect(texts[3]).toContain(`[${'#'.repeat(40)}] 100.0 %`);
  });

  test('is a line for every tenth elsewhere, and one for the end', () => {
    const every = Array.from({ length: 201 }, (_, done) => done);
    const texts = shown(false, [...every, 200, 200]);
    expect(texts).toHaveLength(12);
    expect(texts[10]).toContain('200 of 200 records\n');
  });

  test('reports how and where a table differs', () => {
    expect(comparisonLine(same)).toMatch(/^equal +fills +7 rows +aa$/);
    const difference = { missing: 1, extra: 2, changed: 3, examples: ['(1,0)'], columns: [] };
    const line = comparisonLine({ ...same, rebuiltHash: 'bb', difference });
    expect(line).toMatch(/^DIFFER +fills/);
    expect(line).toContain('aa served, bb rebuilt: 1 missing, 2 too many, 3 changed');
    const other = { ...difference, columns: ['fee'] };
    expect(comparisonLine({ ...same, difference: other })).toContain('other columns: fee');
  });
});
