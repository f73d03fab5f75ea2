import { busyMark, loadsText } from '../../src/report/machine.ts';
import { itemText, withPart } from '../../src/report/parts.ts';

const page =
  '# Figures\n\n<!-- bench:one -->\nold\n<!-- /bench:one -->\n\n<!-- bench:two -->\n2\n<!-- /bench:two -->\n';

describe('the parts of a document', () => {
  it('are written in their place', () => {
    const written = withPart(page, { name: 'one', text: 'new', isFirst: false });
    expect(written).toBe(page.replace('old', 'new'));
  });

  it('are added at the end, or before all others', () => {
    const last = withPart(page, { name: 'three', text: '3', isFirst: false });
    expect(last).toBe(`${page}\n<!-- bench:three -->\n3\n<!-- /bench:three -->\n`);
    const first = withPart(page, { name: 'three', text: '3', isFirst: true });
    expect(first.indexOf('bench:three')).toBeLessThan(first.indexOf('bench:one'));
    expect(first.startsWith('# Figures\n\n<!-- bench:three -->')).toBe(true);
  });
});

describe('an item of a list', () => {
  it('is broken between words into lines of a document', () => {
    const lines = itemText(Array.from({ length: 60 }, () => 'word').join(' ')).split('\n');
    expect(lines.length).toBeGreaterThan(2);
    for (const line of lines) expect(line.length).toBeLessThanOrEqual(120);
    expect(lines.map((line) => line.slice(0, 2))).toEqual([
      '- ',
      ...lines.slice(1).map(() => '  '),
    ]);
  });
});

describe('the load of the machine', () => {
  it('is said before and during the run', () => {
    expect(loadsText({ before: 0.42, highest: 5.06, atEnd: 4 })).toBe(
      'load average 0.4 before the start, at most 5.1 during it, 4.0 at its end',
    );
  });

  it('marks a heading when it was above 1 before the start, whatever it is during the run', () => {
    expect(busyMark({ before: 1 })).toBe('');
    expect(busyMark({ before: 1.01 })).toContain('load average 1.0 before the start');
  });
});
