import { usageOf } from '@pm/deploy/local/process-table';
import { readRange } from '@pm/kit/kafka';
import { startChild } from '../child/child.ts';
import type { GeneratorJob, GeneratorResult } from '../partition-generator.ts';
import { cpuSeconds } from '../report/on-cpu.ts';
import { countEvents, emptyOutcome, type Outcome } from '../stream/outcome.ts';
import type { Installation } from '../world/installation.ts';
import { endOf, executionsTopic, type OpenLog, ordersTopic } from './log.ts';

/** One passage of a stream: from the first append to the last execution readable. */
export interface Passage {
  readonly commands: number;
  readonly seconds: number;
  readonly inputRecords: number;
  readonly inputBytes: number;
  readonly outputBytes: number;
  /** Offsets of `orders[0]`, ticks between them included. */
  readonly from: number;
  readonly to: number;
  /** Until the last append was acknowledged. */
  readonly generatorSeconds: number;
  readonly cpu: {
    readonly generator: number;
    readonly matcher: number;
    readonly reader: number;
    readonly broker: number;
  };
}

const waitMs = 180_000;

/** Appends the records of the job and waits for all their outputs. */
export async function pass(
  installation: Installation,
  log: OpenLog,
  run: { readonly job: GeneratorJob; readonly matcherPid: number },
): Promise<Passage> {
  const generator = startChild<GeneratorResult>('partition-generator', run.job);
  await generator.ready;
  const from = await endOf(log.client, ordersTopic);
  const output = await watchOutput(log, await endOf(log.client, executionsTopic));
  const usage = () => ({
    matcher: usageOf(run.matcherPid).cpuSeconds,
    reader: cpuSeconds(),
    broker: installation.cpuSecondsOf('kafka'),
  });
  const before = usage();
  const started = performance.now();
  const appended = await generator.go();
  const seconds = ((await output.until(appended.lastOffset)) - started) / 1000;
  const after = usage();
  await output.close();
  return {
    commands: run.job.shape.commands,
    seconds,
    inputRecords: appended.records,
    inputBytes: appended.bytes,
    outputBytes: output.bytes(),
    from,
    to: appended.lastOffset + 1,
    generatorSeconds: appended.seconds,
    cpu: {
      generator: appended.cpuSeconds,
      matcher: after.matcher - before.matcher,
      reader: after.reader - before.reader,
      broker: after.broker - before.broker,
    },
  };
}

/** Reads the output and records the first time at which each offset was readable. */
async function watchOutput({ client }: OpenLog, from: number) {
  const seen: { readonly last: number; readonly atMs: number }[] = [];
  let bytes = 0;
  const reader = await client.reader({
    topic: executionsTopic,
    positions: new Map([[0, from]]),
    dense: true,
    onBatch: async ({ records }) => {
      for (const { value } of records) bytes += value?.length ?? 0;
      seen.push({ last: records.at(-1)?.offset ?? -1, atMs: performance.now() });
    },
    onFault: (fault) => console.error(`the reader: ${fault.code}`),
  });
  return {
    bytes: () => bytes,
    close: () => reader.close(),
    /** One input record gives one output record of the same offset. */
    async until(offset: number): Promise<number> {
      const deadline = performance.now() + waitMs;
      for (;;) {
        const found = seen.find(({ last }) => last >= offset);
        if (found !== undefined) return found.atMs;
        if (performance.now() > deadline) throw new Error(`execution ${offset} never came`);
        await new Promise((resolve) => setTimeout(resolve, 5));
      }
    },
  };
}

/** Counts of the executions of a passage, to exclude a run of refusals. */
export async function outcomeOf(log: OpenLog, passage: Passage): Promise<Outcome> {
  const outcome = emptyOutcome();
  await readRange(log.client, {
    topic: executionsTopic,
    partition: 0,
    from: passage.from,
    to: passage.to,
    onBatch: async ({ records }) => {
      for (const { value } of records) {
        if (value !== null) countEvents(outcome, log.executions.decode(value).events);
      }
    },
  });
  return outcome;
}
