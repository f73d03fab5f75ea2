import {
  mebibytesText,
  msText,
  percentText,
  quantile,
  rateText,
  ratioText,
} from '../report/numbers.ts';
import type { Table } from '../report/report.ts';
import { rateName } from './rates.ts';
import { isOfStack, type StepResult } from './run-step.ts';
import {
  countsOf,
  memoryOf,
  msPerOrder,
  ratioOf,
  roundRatios,
  type StepSums,
  samplesOf,
  shareOf,
  stackMsPerOrder,
  sumSteps,
  tableWorkOf,
} from './sums.ts';

/** Goals at 300 orders a second. */
const ratioMax = { p50: 1.3, p99: 1.5 } as const;
const shares = [0.5, 0.9, 0.99, 1] as const;

const percentiles = (samples: readonly number[]): string[] =>
  shares.map((share) => msText(quantile(samples, share)));

/** Result of a step as one line, which is printed after it. */
export function stepLine(result: StepResult): string {
  const { shape, condition, outcome, used } = result;
  const [sums] = sumSteps([result]);
  const ms = sums === undefined ? Number.NaN : stackMsPerOrder(sums);
  return [
    `${rateName(shape.rate)}, ${condition}: p50/p90/p99/max ${percentiles(outcome.latenciesMs).join('/')} ms`,
    `${msText(ms)} ms of processor an order`,
    `idle ${percentText(used.idleShare)}, others ${percentText(used.othersShare)}`,
    JSON.stringify(outcome.outcomes),
  ].join('; ');
}

export function latencyTable(all: readonly StepSums[]): Table {
  return {
    title: 'Orders from their planned moment to the response, ms',
    head: [
      ...['orders', 'with', 'p50', 'p90', 'p99', 'max', 'orders by outcome'],
      ...['generator behind p99 / max', 'idle', 'others'],
    ],
    rows: all.map((sums) => {
      const behind = samplesOf(sums, 'behindMs');
      return [
        sums.rate,
        sums.condition,
        ...percentiles(samplesOf(sums, 'latenciesMs')),
        sharesText(countsOf(sums, 'outcomes')),
        `${msText(quantile(behind, 0.99))} / ${msText(quantile(behind, 1))}`,
        percentText(shareOf(sums, 'idleShare')),
        percentText(shareOf(sums, 'othersShare')),
      ];
    }),
  };
}

/** "live 99.9 %, matched 0.1 %". */
export function sharesText(counts: Readonly<Record<string, number>>): string {
  const total = Object.values(counts).reduce((sum, times) => sum + times, 0);
  const texts = Object.entries(counts).map(
    ([word, times]) => `${word} ${percentText(times / total)}`,
  );
  return texts.join(', ');
}

/** The rows of a rate, by condition. */
function byRate(all: readonly StepSums[]): readonly (readonly StepSums[])[] {
  return [...new Set(all.map(({ rate }) => rate))].map((rate) =>
    all.filter((sums) => sums.rate === rate),
  );
}

export function ratioTable(all: readonly StepSums[]): Table {
  return {
    title: `Everything running against others of the same run, all rounds together (goal at 300/s, ClickHouse stopped: p50 ${ratioMax.p50}x, p99 ${ratioMax.p99}x)`,
    head: ['orders', 'against', 'p50', 'of each round', 'p99', 'of each round'],
    rows: byRate(all).flatMap((sums) => {
      const everything = sums.find(({ condition }) => condition === 'everything');
      if (everything === undefined) return [];
      const others = sums.filter((other) => other !== everything);
      return others.map((other) => [
        everything.rate,
        other.condition,
        ...[0.5, 0.99].flatMap((share) => [
          `**${ratioText(ratioOf(everything, other, share))}**`,
          roundRatios(everything, other, share).map(ratioText).join(', '),
        ]),
      ]);
    }),
  };
}

/** The largest first; the generator at the end. */
export function processorTable(all: readonly StepSums[]): Table {
  const measured = all.filter(({ condition }) => condition !== 'bare server');
  const names = [...new Set(measured.flatMap((sums) => [...msPerOrder(sums).keys()]))];
  const first = measured[0];
  const weight = (name: string) => (first && msPerOrder(first).get(name)) ?? 0;
  const own = names.filter(isOfStack).sort((a, b) => weight(b) - weight(a));
  return {
    title:
      'Processor time by process, ms an order with its cancel (goal of all together: 1.5 at 300/s, 0.35 in batches of 15 at 1,500/s)',
    head: ['orders', 'with', 'all', ...own, 'generator'],
    rows: measured.map((sums) => {
      const ms = msPerOrder(sums);
      const together = stackMsPerOrder(sums);
      const cells = [...own, 'generator'].map((name) => (ms.get(name) ?? 0).toFixed(2));
      return [sums.rate, sums.condition, `**${together.toFixed(2)}**`, ...cells];
    }),
  };
}

export function tableWorkTable(all: readonly StepSums[]): Table {
  return {
    title:
      'ClickHouse with everything running (goal at 100/s: 12 rows merged for each row inserted)',
    head: [
      ...['orders', 'inserts/s', 'rows inserted/s', 'parts written/s', 'merges/s'],
      ...['rows merged per row inserted', 'active parts at the end', 'share of a core'],
    ],
    rows: all.flatMap((sums) => {
      const work = tableWorkOf(sums);
      if (work === null) return [];
      const perSecond = (times: number) => rateText(times / work.seconds);
      const cpu = sums.rounds.reduce(
        (sum, { used }) => sum + (used.cpuSeconds.get('clickhouse') ?? 0),
        0,
      );
      return [
        [
          sums.rate,
          perSecond(work.inserts),
          perSecond(work.insertedRows),
          perSecond(work.insertedParts),
          perSecond(work.merges),
          (work.mergedRows / work.insertedRows).toFixed(1),
          String(work.activeParts),
          percentText(cpu / work.seconds),
        ],
      ];
    }),
  };
}

export function cancelTable(all: readonly StepSums[]): Table {
  return {
    title: 'Cancels of a wallet, once a second, from their planned moment, ms',
    head: ['orders', 'with', 'p50', 'p90', 'p99', 'max', 'orders of cancels'],
    rows: all
      .filter(({ condition }) => condition !== 'bare server')
      .map((sums) => [
        sums.rate,
        sums.condition,
        ...percentiles(samplesOf(sums, 'cancelMs')),
        sharesText(countsOf(sums, 'cancels')),
      ]),
  };
}

export function memoryTable(all: readonly StepSums[]): Table {
  const measured = all.filter(({ condition }) => condition === 'everything');
  const names = [...new Set(measured.flatMap((sums) => [...memoryOf(sums).keys()]))];
  return {
    title: 'Resident memory with everything running, at the end of the first and of the last round',
    head: ['orders', ...names],
    rows: measured.map((sums) => {
      const bytes = memoryOf(sums);
      return [sums.rate, ...names.map((name) => memoryText(bytes.get(name) ?? []))];
    }),
  };
}

/** "150 MiB", or of several rounds "150, 160 MiB". */
export function memoryText(rounds: readonly number[]): string {
  const [first = 0] = rounds;
  const last = mebibytesText(rounds.at(-1) ?? 0);
  return rounds.length < 2 ? last : `${(first / 2 ** 20).toFixed(0)}, ${last}`;
}
