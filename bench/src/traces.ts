import { openBench } from './load/open-bench.ts';
import { isOfStack, runStep, type StepResult } from './load/run-step.ts';
import { readArguments } from './report/arguments.ts';
import { loadText } from './report/machine.ts';
import { msText, quantile } from './report/numbers.ts';
import { publish } from './report/report.ts';
import { openSpanSink, type SpanSink } from './traces/span-sink.ts';

/**
 * `npm run bench:traces`: what traces cost. The same load on stacks that trace nothing, the default share of orders and
 * all of them, in turn, with a receiver that reads every span and keeps none. A stack of its own for each run: services
 * learn at their start whether they trace.
 */
const given = readArguments({
  rate: { default: 100, min: 1, max: 5_000 },
  seconds: { default: 30, min: 2, max: 3_600 },
  rounds: { default: 2, min: 1, max: 20 },
  markets: { default: 16, min: 1, max: 1_000 },
  wallets: { default: 8, min: 2, max: 200 },
});

/** Null for traces that are off. */
const shares = [null, 0.01, 1] as const;
type Share = (typeof shares)[number];

const nameOf = (share: Share): string => (share === null ? 'off' : `share ${share}`);

interface Run {
  readonly share: Share;
  readonly step: StepResult;
  readonly spans: number;
}

const rate = { perSecond: given.number('rate'), batch: 1 };
const counts = { markets: given.number('markets'), wallets: given.number('wallets'), fills: 0.25 };
const seconds = given.number('seconds');

async function run(share: Share, sink: SpanSink): Promise<Run> {
  const traces = share === null ? {} : { traces: { url: sink.url, share } };
  const bench = await openBench(counts, [rate], {
    markets: 0,
    traders: 0,
    hasBare: false,
    ...traces,
  });
  try {
    const before = sink.spans;
    const step = await runStep(bench, bench.shape(rate, seconds), 'everything');
    return { share, step, spans: sink.spans - before };
  } finally {
    await bench.end();
  }
}

/** Processor time of a process for each order, milliseconds; of all of the stack without a name. */
function perOrderMs({ step: { used, shape } }: Run, process?: string): number {
  const orders = shape.seconds * shape.rate.perSecond;
  const all = [...used.cpuSeconds].filter(([name]) =>
    process === undefined ? isOfStack(name) : name === process,
  );
  return (all.reduce((sum, [, cpu]) => sum + cpu, 0) * 1_000) / orders;
}

const mean = (values: readonly number[]) =>
  values.reduce((sum, one) => sum + one, 0) / values.length;

const loadBefore = loadText();
const runs: Run[] = [];
const sink = await openSpanSink();
try {
  for (let round = 0; round < given.number('rounds'); round += 1) {
    for (const share of round % 2 === 0 ? shares : shares.toReversed()) {
      const done = await run(share, sink);
      runs.push(done);
      console.error(`${nameOf(share)}: ${msText(perOrderMs(done))} an order, ${done.spans} spans`);
    }
  }
} finally {
  await sink.close();
}

const traced = ['gateway', 'ingress', 'matcher', 'projectors', 'query-api', 'streams'] as const;
const of = (share: Share) => runs.filter((one) => one.share === share);
const rowOf = (title: string, value: (run: Run) => number, text = msText) => [
  title,
  ...shares.map((share) => text(mean(of(share).map(value)))),
];

publish(
  {
    name: 'traces',
    title: 'What traces cost',
    conditions: [
      `Engines, services and gateway as npm start starts them, a stack of its own for each run; ${rate.perSecond} orders a second, one a request, for ${seconds} s, a quarter of them fills; ${given.number('rounds')} rounds in turn; load average ${loadBefore} before and ${loadText()} after the run.`,
      'The receiver reads each request of spans and keeps none; its processor time is that of the benchmark and not counted.',
    ],
    tables: [
      {
        title: 'Processor time an order, ms, and answers, ms; means of the rounds',
        head: ['', ...shares.map(nameOf)],
        rows: [
          ...traced.map((name) => rowOf(name, (one) => perOrderMs(one, name))),
          rowOf('all processes', (one) => perOrderMs(one)),
          ...[0.5, 0.99].map((share) =>
            rowOf(`answer p${100 * share}`, ({ step }) =>
              quantile(step.outcome.latenciesMs, share),
            ),
          ),
          rowOf(
            'spans an order',
            ({ spans, step: { shape } }) =>
              spans / ((shape.seconds + shape.leadSeconds) * shape.rate.perSecond),
            (value) => value.toFixed(2),
          ),
        ],
      },
    ],
    notes: [],
    figures: {
      runs: runs.map((one) => ({
        share: one.share,
        perOrderMs: perOrderMs(one),
        spans: one.spans,
      })),
    },
  },
  given,
);
