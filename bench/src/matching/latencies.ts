import { quantile } from '../report/numbers.ts';
import type { Table } from '../report/report.ts';
import { openEngine } from '../stream/engines.ts';
import { decodeEnvelope, encodeEnvelopes, groupsOf } from '../stream/envelopes.ts';
import { NpmBooks, npmCommand } from '../stream/npm-books.ts';
import { booksOf, type PlainCommand, type Shape } from '../stream/plain.ts';
import { rulesFor } from './rates.ts';

const chunkCommands = 2_048;
const shares = [0.5, 0.99, 0.999] as const;

/** Wall time of single commands: an envelope of one command for ours, one call for nodejs-order-book. */
export function measureLatencies(stream: readonly PlainCommand[], shape: Shape) {
  const timerNs = timerCostNs();
  const samples = {
    'nodejs-order-book': npmLatencies(stream, shape),
    'ours, an envelope of 1 command': ownLatencies(stream, shape, 1),
    'ours, an envelope of 256, by command': ownLatencies(stream, shape, 256).map((ns) => ns / 256),
  };
  const quantiles = Object.fromEntries(
    Object.entries(samples).map(([name, all]) => [name, shares.map((q) => quantile(all, q))]),
  );
  const table: Table = {
    title: `${shape.name}: wall time of a command, ns, timer included (a timer call costs ${timerNs.toFixed(0)} ns)`,
    head: ['engine', 'p50', 'p99', 'p99.9'],
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

function ownLatencies(
  stream: readonly PlainCommand[],
  shape: Shape,
  perEnvelope: number,
): number[] {
  const rules = { ...rulesFor(shape, 'complement'), perEnvelope };
  const engine = openEngine(rules);
  const samples: number[] = [];
  for (const chunk of groupsOf(encodeEnvelopes(stream, rules), chunkCommands / perEnvelope)) {
    for (const envelope of chunk.map(decodeEnvelope)) {
      const started = performance.now();
      engine.apply(envelope, 0);
      samples.push((performance.now() - started) * 1e6);
    }
  }
  return samples;
}

function npmLatencies(stream: readonly PlainCommand[], shape: Shape): number[] {
  const books = new NpmBooks(booksOf(shape));
  const samples: number[] = [];
  for (const chunk of groupsOf(stream, chunkCommands)) {
    for (const command of chunk.map(npmCommand)) {
      const started = performance.now();
      books.run(command);
      samples.push((performance.now() - started) * 1e6);
    }
  }
  return samples;
}
