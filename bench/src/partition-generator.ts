import { openSignOffKey } from '@pm/domain/signoff/keys';
import { sealEnvelope } from '@pm/domain/signoff/records';
import { serveParent } from './child/child.ts';
import { type LogPlace, openLog, ordersTopic } from './partition/log.ts';
import { cpuSeconds } from './report/on-cpu.ts';
import {
  CommandWriter,
  type EnvelopeRules,
  groupsOf,
  openingCommands,
} from './stream/envelopes.ts';
import { makeStream, plainCommands } from './stream/plain.ts';
import { booksOf, type Shape } from './stream/shape.ts';

/** Records that the generator appends to `orders[0]`: the opening of the exchange, or a stream of commands. */
export interface GeneratorJob extends LogPlace {
  readonly part: 'opening' | 'stream';
  readonly shape: Shape;
  readonly firstId: number;
  readonly firstSequence: number;
  /** The clock of the partition; ahead of the real one, so that the owner's ticks do not move it. */
  readonly timeMs: number;
  readonly perEnvelope: number;
  readonly seeds: { readonly operator: string; readonly owner: string; readonly ingress: string };
}

export interface GeneratorResult {
  readonly records: number;
  readonly bytes: number;
  /** From the first append to the last acknowledgement. */
  readonly seconds: number;
  readonly cpuSeconds: number;
  readonly lastOffset: number;
}

/** Envelopes that wait or are in flight. */
const windowRecords = 64;

await serveParent(async (job: GeneratorJob) => {
  const { client, orders } = await openLog(job, 'bench-generator');
  const values = job.part === 'opening' ? openingValues() : streamValues();
  const producer = await client.producer();

  function seal(
    seed: string,
    commands: Parameters<typeof sealEnvelope>[2]['commands'],
    index: number,
  ) {
    const key = openSignOffKey(Buffer.from(seed, 'hex'));
    const sequence = job.firstSequence + index;
    return sealEnvelope(orders, key, { partition: 0, sequence, commands });
  }

  function rules(): EnvelopeRules {
    const { shape, perEnvelope, firstId } = job;
    const acceptedAtMs = () => job.timeMs;
    const books = booksOf(shape);
    return { wording: 'complement', books, tick: shape.tick, perEnvelope, firstId, acceptedAtMs };
  }

  function openingValues(): Buffer[] {
    const commands = [...openingCommands(rules())];
    const markets = commands.filter((command) => command.kind === 'SetMarket');
    const splits = commands.filter((command) => command.kind !== 'SetMarket');
    const { operator, owner, ingress } = job.seeds;
    return [
      // The owner alone may not move the clock so far.
      seal(ingress, [{ kind: 'Tick', term: 0, timeMs: job.timeMs }], 0),
      // The matcher that runs has claimed the partition once.
      seal(owner, [{ kind: 'Tick', term: 1, timeMs: job.timeMs }], 0),
      seal(operator, markets, 1),
      ...[...groupsOf(splits, job.perEnvelope)].map((some, index) =>
        seal(ingress, some, 2 + index),
      ),
    ];
  }

  function streamValues(): Buffer[] {
    const writer = new CommandWriter(rules());
    const groups = [...groupsOf(plainCommands(makeStream(job.shape)), job.perEnvelope)];
    return groups.map((group, index) =>
      seal(
        job.seeds.ingress,
        group.map((plain) => writer.write(plain)),
        index,
      ),
    );
  }

  const work = async (): Promise<GeneratorResult> => {
    const [started, startedCpu] = [performance.now(), cpuSeconds()];
    let lastOffset = -1;
    for (const window of groupsOf(values, windowRecords)) {
      const sends = window.map((value) =>
        producer.send([{ topic: ordersTopic, partition: 0, key: null, value }]),
      );
      for (const places of await Promise.all(sends))
        lastOffset = places.at(-1)?.offset ?? lastOffset;
    }
    const seconds = (performance.now() - started) / 1000;
    const used = cpuSeconds() - startedCpu;
    const bytes = values.reduce((sum, value) => sum + value.length, 0);
    await client.close();
    return { records: values.length, bytes, seconds, cpuSeconds: used, lastOffset };
  };
  return { info: null, work };
});
