import { msText, quantile, ratioText } from '../report/numbers.ts';
import type { Table } from '../report/report.ts';
import type { KindResult, PhaseSums } from './phases.ts';
import { type Probed, probed } from './probe.ts';

/** With a flood the 99th percentile of others may be so many times that of the quiet system. */
export const ratioMax = 2;

const shares = [0.5, 0.9, 0.99, 1] as const;

function latenciesOf({ samples }: PhaseSums, what: Probed): readonly number[] {
  return samples[what].latencyMs;
}

/** The ratio of the 99th percentiles of a flood and the quiet phases beside it. */
export function p99Ratio(quiet: PhaseSums, flood: PhaseSums, what: Probed): number {
  return quantile(latenciesOf(flood, what), 0.99) / quantile(latenciesOf(quiet, what), 0.99);
}

/** Latencies of the probe, quiet and with each flood, with the verdict. */
export function probeTable(results: readonly KindResult[]): Table {
  return {
    title: `Orders, cancels and reads of another wallet, ms from the planned moment (target: p99 at most ${ratioMax} times quiet)`,
    head: [
      'flood',
      'rate',
      'what',
      'p50',
      'p90',
      'p99',
      'max',
      'p99 to quiet',
      'target',
      'outcomes',
    ],
    rows: results.flatMap((result) => rowsOf(result)),
  };
}

function rowsOf({ kind, quiet, floods }: KindResult): string[][] {
  const row = (what: Probed, rate: string, sums: PhaseSums, verdict: readonly string[]) => [
    kind.name,
    rate,
    what,
    ...shares.map((share) => msText(quantile(latenciesOf(sums, what), share))),
    ...verdict,
    countsText(sums.samples[what].outcomes),
  ];
  return probed.flatMap((what) => [
    row(what, 'quiet', quiet, ['1.00x', '']),
    ...floods.map(({ level, sums }) => {
      const ratio = p99Ratio(quiet, sums, what);
      return row(what, level.name, sums, [ratioText(ratio), ratio <= ratioMax ? 'met' : 'missed']);
    }),
  ]);
}

/** Table of the requests that the floods sent, and of their responses. */
export function floodTable(results: readonly KindResult[]): Table {
  return {
    title: 'The floods: requests a second, and what they got',
    head: ['flood', 'rate', 'planned/s', 'answered/s', 'answers'],
    rows: results.flatMap(({ kind, floods }) =>
      floods.map(({ level, sums }) => {
        const { 'not sent': unsent = 0, ...answers } = sums.answers;
        const answered = Object.values(answers).reduce((sum, count) => sum + count, 0);
        const perSecond = (count: number) => (count / sums.seconds).toFixed(0);
        const planned = perSecond(sums.planned);
        const unsentText = unsent === 0 ? '' : `; not sent ${unsent}`;
        return [
          kind.name,
          level.name,
          planned,
          perSecond(answered),
          countsText(answers) + unsentText,
        ];
      }),
    ),
  };
}

/** Processor time by process, as a share of one core. */
export function processorTable(results: readonly KindResult[]): Table {
  const names = [...(results[0]?.quiet.processor.keys() ?? [])];
  const cells = ({ processor, seconds }: PhaseSums) =>
    names.map((name) => (((processor.get(name) ?? 0) / seconds) * 100).toFixed(0));
  return {
    title: 'Processor time of each process, % of a core, the sender of the flood not included',
    head: ['flood', 'rate', ...names],
    rows: results.flatMap(({ kind, quiet, floods }) => [
      [kind.name, 'quiet', ...cells(quiet)],
      ...floods.map(({ level, sums }) => [kind.name, level.name, ...cells(sums)]),
    ]),
  };
}

function countsText(counts: Readonly<Record<string, number>>): string {
  const texts = Object.entries(counts).map(([word, count]) => `${word} ${count}`);
  return texts.join(', ');
}
