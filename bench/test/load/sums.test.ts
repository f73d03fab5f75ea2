import { notCarried } from '../../src/load/capacity.ts';
import type { LoadResult } from '../../src/load/job.ts';
import { usedBetween } from '../../src/load/processor-window.ts';
import { errorsOf, loadReport } from '../../src/load/report-load.ts';
import type { Condition, StepResult } from '../../src/load/run-step.ts';
import { msPerOrder, roundRatios, sumSteps } from '../../src/load/sums.ts';
import {
  latencyTable,
  processorTable,
  ratioTable,
  sharesText,
  tableWorkTable,
} from '../../src/load/tables.ts';

const counts = { wallets: 8, markets: 32, fills: 0 };

interface Made {
  readonly condition: Condition;
  readonly ms: number;
  readonly outcomes?: LoadResult['outcomes'];
  readonly behindMs?: number;
}

/** A step of ten seconds at 300 a second in which every order took as long. */
function step({ condition, ms, outcomes = { live: 3_000 }, behindMs = 1 }: Made): StepResult {
  const all = (value: number) => Array.from({ length: 3_000 }, () => value);
  return {
    shape: { rate: { perSecond: 300, batch: 1 }, leadSeconds: 3, seconds: 10, ...counts },
    condition,
    outcome: {
      latenciesMs: all(ms),
      cancelMs: [1],
      outcomes,
      cancels: { canceled: 3_000 },
      behindMs: all(behindMs),
      samples: {},
    },
    used: {
      cpuSeconds: new Map([
        ['ingress', 3],
        ['clickhouse', 6],
        ['generator', 1.5],
      ]),
      rssBytes: new Map([['ingress', 1 << 20]]),
      idleShare: 0.25,
      othersShare: 0.05,
    },
    tables:
      condition === 'everything'
        ? {
            inserts: 100,
            insertedRows: 3_000,
            insertedParts: 400,
            merges: 20,
            mergedRows: 36_000,
            activeParts: 50,
          }
        : null,
  };
}

const rounds = [
  step({ condition: 'everything', ms: 20 }),
  step({ condition: 'ClickHouse stopped', ms: 10 }),
  step({ condition: 'ClickHouse stopped', ms: 20 }),
  step({ condition: 'everything', ms: 60 }),
];

describe('the sums of a load', () => {
  it('compare two conditions in all rounds together, and round by round', () => {
    const [everything, stopped] = sumSteps(rounds);
    if (everything === undefined || stopped === undefined) throw new Error('two conditions');
    expect(roundRatios(everything, stopped, 0.5)).toEqual([2, 3]);
    expect(ratioTable(sumSteps(rounds)).rows).toEqual([
      ['300/s', 'ClickHouse stopped', '**2.00x**', '2.00x, 3.00x', '**3.00x**', '2.00x, 3.00x'],
    ]);
  });

  it('spread processor time over all planned orders of the measured parts', () => {
    const [everything] = sumSteps(rounds);
    if (everything === undefined) throw new Error('a condition');
    expect(msPerOrder(everything).get('clickhouse')).toBe(2);
    const [row] = processorTable(sumSteps(rounds)).rows;
    expect(row).toEqual(['300/s', 'everything', '**3.00**', '2.00', '1.00', '0.50']);
  });

  it('divide merged by inserted rows', () => {
    const { head, rows } = tableWorkTable(sumSteps(rounds));
    expect(rows[0]?.[head.indexOf('rows merged per row inserted')]).toBe('12.0');
    expect(rows).toHaveLength(1);
  });

  it('say the share of each outcome, refusals too', () => {
    expect(sharesText({ live: 998, unsupported: 2 })).toBe('live 99.8 %, unsupported 0.2 %');
    expect(latencyTable(sumSteps(rounds)).rows[0]?.[6]).toBe('live 100.0 %');
  });
});

describe('errors of a load', () => {
  const good = step({ condition: 'everything', ms: 20 });
  const late = step({ condition: 'everything', ms: 20, behindMs: 1_500 });
  const unsent = step({
    condition: 'everything',
    ms: 20,
    outcomes: { live: 2_990, 'not sent': 10 },
  });

  it('are said where the generator fell behind its plan, and where it did not send', () => {
    expect(errorsOf([good])).toEqual([]);
    expect(errorsOf([late])).toEqual([
      '300/s, everything: the generator was 1500 ms behind its plan',
    ]);
    expect(errorsOf([unsent])).toHaveLength(1);
    const found = { steps: [late], freshness: null, capacity: [] };
    expect(loadReport(found, { ...counts, rounds: 1 }).notes.join()).toContain('ERROR');
  });

  it('are said beside steps that others on the machine disturbed', () => {
    const disturbed = { ...good, used: { ...good.used, othersShare: 0.3 } };
    const notesOf = (one: StepResult) =>
      loadReport({ steps: [one], freshness: null, capacity: [] }, { ...counts, rounds: 1 }).notes;
    expect(notesOf(disturbed).join()).toContain('300/s with everything (30.0 %)');
    expect(notesOf(good)).toHaveLength(1);
  });

  it('keep a rate from being carried, as slow and refused orders do', () => {
    expect(notCarried(good)).toBeNull();
    expect(notCarried(late)).not.toBeNull();
    expect(notCarried(step({ condition: 'everything', ms: 1_000 }))).toBe('p99 1000 ms');
    const refused = { live: 2_990, request_throttled: 10 };
    expect(notCarried(step({ condition: 'everything', ms: 20, outcomes: refused }))).toBe(
      '10 of 3000 orders were not accepted',
    );
    expect(notCarried(step({ condition: 'everything', ms: 20, outcomes: {} }))).not.toBeNull();
  });
});

describe('the processor of a window', () => {
  it('is that of the run, of others, and idle', () => {
    const at = (ingress: number, coreSeconds: number, idleSeconds: number) => ({
      cpuSeconds: new Map([['ingress', ingress]]),
      rssBytes: new Map(),
      coreSeconds,
      idleSeconds,
    });
    const used = usedBetween(at(5, 100, 50), at(11, 120, 60));
    expect(used.cpuSeconds.get('ingress')).toBe(6);
    expect([used.idleShare, used.othersShare]).toEqual([0.5, 0.2]);
  });
});
