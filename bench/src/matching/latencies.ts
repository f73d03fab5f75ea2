import { quantile } from '../report/numbers.ts';
import type { Table } from '../report/report.ts';
import { openEngine } from '../stream/engines.ts';
import { decodeEnvelope, encodeEnvelopes, groupsOf } from '../stream/envelopes.ts';
import { NpmBooks, type NpmEngine, npmCommand } from '../stream/npm-books.ts';
import { plainCommands, type Stream } from '../stream/plain.ts';
import { booksOf } from '../stream/shape.ts';
import { openBatch } from './book-runs.ts';
import { rulesFor } from './engine-rates.ts';

const chunkCommands = 2_048;
const shares = [0.5, 0.99, 0.999] as const;

/** Wall time of single commands, timer included: our book on `std`, the engine and the npm book on `small`. */
export function measureLatencies(std: Stream, small: Stream, npm: NpmEngine) {
  const timerNs = timerCostNs();
  const samples = {
    [`our book, one command a batch, ${std.shape.name}`]: bookLatencies(std),
    [`our engine, an envelope of 1 command, ${small.shape.name}`]: engineLatencies(small, 1),
    [`our engine, an envelope of 256, by command, ${small.shape.name}`]: engineLatencies(
      small,
      256,
    ),
    [`${npm.name}, ${small.shape.name}`]: npmLatencies(small, npm),
  };
  const quantiles = Object.fromEntries(
    Object.entries(samples).map(([name, all]) => [name, shares.map((q) => quantile(all, q))]),
  );
  const table: Table = {
    title: `Wall time of a command, ns, timer included (a timer call costs ${timerNs.toFixed(0)} ns; target: p99 of 2,000 for the book)`,
    head: ['engine and load', 'p50', 'p99', 'p99.9'],
    rows: Object.entries(quantiles).map(([name, all]) => [
      name,
      ...all.map((ns) => Math.round(ns).toLocaleString('en')),
    ]),
  };
  const notes = [
    'An envelope of one command carries the cost of closing a record (levels, tops, money), which an envelope of 256 shares. Above p99.9 the figures show the scheduler and the collector of garbage.',
  ];
  return { table, notes, figures: { timerNs, quantiles } };
}

function timerCostNs(): number {
  const calls = 200_000;
  const started = process.hrtime.bigint();
  for (let call = 0; call < calls; call += 1) performance.now();
  return Number(process.hrtime.bigint() - started) / calls;
}

function bookLatencies(stream: Stream): Float64Array {
  const batch = openBatch(stream);
  const samples = new Float64Array(stream.count);
  for (let index = 0; index < stream.count; index += 1) {
    const started = performance.now();
    batch.run(stream.words, index, index + 1);
    samples[index] = (performance.now() - started) * 1e6;
  }
  return samples;
}

function engineLatencies(stream: Stream, perEnvelope: number): number[] {
  const rules = { ...rulesFor(stream.shape, 'complement'), perEnvelope };
  const engine = openEngine(rules);
  const samples: number[] = [];
  const encoded = encodeEnvelopes(plainCommands(stream), rules);
  for (const chunk of groupsOf(encoded, chunkCommands / perEnvelope)) {
    for (const envelope of chunk.map(decodeEnvelope)) {
      const started = performance.now();
      engine.apply(envelope, 0);
      samples.push(((performance.now() - started) * 1e6) / perEnvelope);
    }
  }
  return samples;
}

function npmLatencies(stream: Stream, engine: NpmEngine): number[] {
  const books = new NpmBooks(engine, booksOf(stream.shape));
  const samples: number[] = [];
  for (const chunk of groupsOf(plainCommands(stream), chunkCommands)) {
    for (const command of chunk.map(npmCommand)) {
      const started = performance.now();
      books.run(command);
      samples.push((performance.now() - started) * 1e6);
    }
  }
  return samples;
}
