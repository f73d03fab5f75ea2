import { tables } from '@pm/schemas/tables/tables';
import { parseDay } from '../../src/export/day.ts';
import { planOf } from '../../src/export/plan.ts';
import { orderOf } from '../../src/export/statements.ts';

const nowMs = Date.parse('2026-06-02T00:00:00.000Z');

describe('a day', () => {
  test('runs from midnight to midnight, UTC', () => {
    const day = parseDay('2026-06-01', nowMs);
    expect([day.toMs, day.toMs - day.fromMs]).toEqual([nowMs, 86_400_000]);
  });

  test.each(['2026-6-1', '2026-02-30', 'today', '', '2026-06-01T00:00:00Z', '2026-13-01'])(
    'is not %s',
    (text) => expect(() => parseDay(text, nowMs)).toThrow('YYYY-MM-DD'),
  );

  test('is refused until it is over', () => {
    expect(() => parseDay('2026-06-01', nowMs - 1)).toThrow('is not over');
    expect(() => parseDay('2026-06-01', nowMs - 1)).toThrow('--partial');
    expect(() => parseDay('2031-01-01', nowMs)).toThrow('has not begun');
  });

  test('may be written in part from its first moment on', () => {
    expect(parseDay('2026-06-02', nowMs, { isPartial: true }).fromMs).toBe(nowMs);
    expect(() => parseDay('2026-06-03', nowMs, { isPartial: true })).toThrow('has not begun');
  });
});

describe('the plan', () => {
  test('has every table, or a reason why it is not written', () => {
    const { planned, leftOut } = planOf(null);
    const named = [...planned.map(({ table }) => table.name), ...leftOut.map(({ table }) => table)];
    expect(named.sort()).toEqual(
      Object.values(tables)
        .map(({ name }) => name)
        .sort(),
    );
    for (const { why } of leftOut) expect(why).not.toBe('not requested');
  });

  test('binds facts to the day and states to nothing', () => {
    for (const { kind, condition, table } of planOf(null).planned) {
      expect(condition === null).toBe(kind === 'state');
      const dated = table.columns.some(({ name }) => condition?.startsWith(`${name} >= `));
      expect([table.name, dated]).toEqual([table.name, kind !== 'state']);
    }
  });

  test('writes copies only when they are named', () => {
    expect(planOf(null).planned.map(({ table }) => table.name)).not.toContain('tape');
    expect(planOf(['tape']).planned).toMatchObject([{ kind: 'copy', table: { name: 'tape' } }]);
  });

  test('refuses names that it cannot write', () => {
    expect(() => planOf(['fills', 'fill'])).toThrow('fill is no table');
    expect(() => planOf(['holders'])).toThrow('positions in another order');
  });

  test('sorts by the log position where rows have one, else by the whole key', () => {
    const [fills, held] = [tables.walletFills, tables.positions];
    expect(orderOf(fills).slice(0, 3)).toEqual(['partition', 'in_offset', 'event_index']);
    expect(new Set(orderOf(fills))).toEqual(new Set(fills.orderBy));
    expect(orderOf(held)).toEqual(held.orderBy);
  });
});
