import type { Visibility } from '../latency/visibility.ts';
import { msText, percentText, quantile } from '../report/numbers.ts';
import type { Section, Table } from '../report/report.ts';
import { notCarried } from './capacity.ts';
import type { Found } from './found.ts';
import { type Rate, rateName } from './rates.ts';
import { isOfStack, type StepResult } from './run-step.ts';
import {
  memoryOf,
  msPerOrder,
  type StepSums,
  samplesOf,
  shareOf,
  stackMsPerOrder,
  sumSteps,
} from './sums.ts';
import { memoryText } from './tables.ts';

/** "What a box can do": the figures of a run that say how large a machine has to be, each with its command. */
export function boxPage(found: Found): Section & { readonly file: string } {
  const rates = sumSteps(found.steps).filter(({ condition }) => condition === 'everything');
  return {
    file: 'operating/what-a-box-can-do.md',
    title: 'Measured',
    conditions: [
      'Engines, services, gateway and the generator of the orders on the same machine, 8 partitions, no demo. The load is that of [figures.md](../figures.md), which has the conditions and the comparisons.',
    ],
    tables: [
      {
        title: 'What it carries',
        head: ['what', 'figure', 'command'],
        rows: [...carriedRows(found.capacity), ...rates.flatMap(rateRows), ...freshRows(found)],
      },
      byProcess(
        'Processor time of each process, ms an order',
        rates,
        (sums) => new Map(ofStack(msPerOrder(sums)).map(([name, ms]) => [name, ms.toFixed(2)])),
      ),
      byProcess(
        'Resident memory of each process at the end of the first and of the last round',
        rates,
        (sums) => new Map([...memoryOf(sums)].map(([name, bytes]) => [name, memoryText(bytes)])),
      ),
    ],
    notes: [],
  };
}

const command = (options: string): string => `\`npm run bench:load -- ${options}\``;

function optionOf({ perSecond, batch }: Rate): string {
  return batch === 1 ? `--rates ${perSecond}` : `--rates ${perSecond}x${batch}`;
}

/** The largest carried rate of singles, and of batches. */
function carriedRows(capacity: readonly StepResult[]): string[][] {
  const batches = [...new Set(capacity.map(({ shape }) => shape.rate.batch))];
  return batches.map((batch) => {
    const carried = capacity.filter(
      (step) => step.shape.rate.batch === batch && notCarried(step) === null,
    );
    const most = Math.max(0, ...carried.map(({ shape }) => shape.rate.perSecond));
    const kind = batch === 1 ? 'single orders' : `orders in batches of ${batch}`;
    return [
      `${kind} a second, 99 % of them answered within a second`,
      `**${most.toLocaleString('en')}**`,
      command('--capacity'),
    ];
  });
}

function rateRows(sums: StepSums): string[][] {
  const { rounds, rate } = sums;
  const [first] = rounds;
  if (first === undefined) return [];
  const by = command(optionOf(first.shape.rate));
  const samples = samplesOf(sums, 'latenciesMs');
  const percentile = (share: number) => msText(quantile(samples, share));
  return [
    [`${rate}: order to response, p50 / p99`, `${percentile(0.5)} / ${percentile(0.99)} ms`, by],
    [
      `${rate}: processor time of all processes an order`,
      `${stackMsPerOrder(sums).toFixed(2)} ms`,
      by,
    ],
    [`${rate}: cores idle, generator included`, percentText(shareOf(sums, 'idleShare')), by],
  ];
}

function freshRows({ freshness }: Found): string[][] {
  if (freshness === null) return [];
  const { seen, step } = freshness;
  const by = command(optionOf(step.shape.rate));
  return [...seen.seenMs].map(([what, ms]) => [
    `${rateName(step.shape.rate)}: ${what}, p50 / p99`,
    `${msText(quantile(ms, 0.5))} / ${msText(quantile(ms, 0.99))} ms${unseenText(seen, what)}`,
    by,
  ]);
}

function ofStack<T>(all: ReadonlyMap<string, T>): readonly (readonly [string, T])[] {
  return [...all].filter(([name]) => isOfStack(name));
}

/** Number of the samples that were not visible in time, as text: they are in no percentile. */
function unseenText({ seenMs, failed }: Visibility, what: string): string {
  const unseen = failed.filter((reason) => reason.startsWith(`${what}: `)).length;
  if (unseen === 0) return '';
  return `, and ${unseen} of ${unseen + (seenMs.get(what)?.length ?? 0)} not in time`;
}

function byProcess(
  title: string,
  rates: readonly StepSums[],
  textsOf: (sums: StepSums) => ReadonlyMap<string, string>,
): Table {
  const columns = rates.map(textsOf);
  const names = [...(columns[0]?.keys() ?? [])];
  return {
    title,
    head: ['process', ...rates.map(({ rate }) => rate)],
    rows: names.map((name) => [name, ...columns.map((column) => column.get(name) ?? '-')]),
  };
}
