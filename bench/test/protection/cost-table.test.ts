import { costTable } from '../../src/protection/steps.ts';

test('a step is compared with the bare one of the same round, and its difference is per record', () => {
  const samples = new Map([
    ['bare', [10, 100, 20]],
    ['guarded', [20, 150, 40]],
  ]);
  const steps = [{ name: 'bare' }, { name: 'guarded', bare: 'bare', records: 10 }];
  const { head, rows } = costTable('cost', steps, samples);
  expect(rows[0]).toEqual(['bare', '10.0', '20.0', '100', '', '', '', '']);
  expect(rows[1]).toEqual(['guarded', '20.0', '40.0', '150', 'bare', '2.00x', '20.0', '2.00']);
  expect(rows.every((row) => row.length === head.length)).toBe(true);
});
