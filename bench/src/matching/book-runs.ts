import { BatchBook, fillWords } from '@pm/matcher/core';
import { cpuSeconds } from '../report/on-cpu.ts';
import { countNpm, NpmBooks, type NpmEngine, npmCommand } from '../stream/npm-books.ts';
import { emptyOutcome } from '../stream/outcome.ts';
import { plainCommands, type Stream } from '../stream/plain.ts';
import { booksOf } from '../stream/shape.ts';

/** Outcome of a run of a stream, and its processor time. */
export interface Run {
  readonly seconds: number;
  readonly fills: number;
  /** Lots. */
  readonly volume: number;
  readonly resting: number;
  /** Every level that rests, as text, sorted. */
  readonly levels: readonly string[];
}

/** Commands of a batch: as many as one envelope of `bench:partition` carries, at most. */
export const perBatch = 256;
/** Commands made ready outside of the measured time before they run inside of it. */
const chunkCommands = 2_048;

export function openBatch(stream: Stream, markets = booksOf(stream.shape)): BatchBook {
  const batch = new BatchBook();
  for (let market = 0; market < markets; market += 1) batch.book.addMarket(stream.shape.tick);
  return batch;
}

/** Our book, fed with batches; counting the fills is part of the time. */
export function runOwn(stream: Stream, markets = booksOf(stream.shape)): Run {
  const batch = openBatch(stream, markets);
  let [fills, volume] = [0, 0];
  const started = cpuSeconds();
  for (let at = 0; at < stream.count; at += perBatch) {
    batch.run(stream.words, at, Math.min(stream.count, at + perBatch));
    fills += batch.fillCount;
    for (let fill = 0; fill < batch.fillCount; fill += 1) {
      volume += batch.fills[fill * fillWords + 3] ?? 0;
    }
  }
  const seconds = cpuSeconds() - started;
  const { book } = batch;
  return { seconds, fills, volume, resting: book.orders.count, levels: levelsOf(book, markets) };
}

/** An engine from npm, a call a command; counting its fills is not part of the time. */
export function runNpm(engine: NpmEngine, stream: Stream): Run {
  const books = new NpmBooks(engine, booksOf(stream.shape));
  const outcome = emptyOutcome();
  let seconds = 0;
  for (let at = 0; at < stream.count; at += chunkCommands) {
    const end = Math.min(stream.count, at + chunkCommands);
    const commands = Array.from(plainCommands(stream, at, end), npmCommand);
    const started = cpuSeconds();
    const answers = commands.map((command) => books.run(command));
    seconds += cpuSeconds() - started;
    for (const [index, command] of commands.entries()) {
      countNpm(outcome, command, answers[index] ?? null);
    }
  }
  const levels = books.levels();
  return { seconds, fills: outcome.fills, volume: outcome.volume, resting: Number.NaN, levels };
}

function levelsOf(book: BatchBook['book'], markets: number): string[] {
  const { ladders } = book;
  const levels: string[] = [];
  for (let market = 0; market < markets; market += 1) {
    const [tick, top] = [ladders.tick(market), ladders.top(market)];
    for (let level = ladders.above(market, 0); level < top; level = ladders.above(market, level)) {
      const side = level <= ladders.bid(market) ? 'bid' : 'ask';
      levels.push(`${market} ${side} ${level * tick} ${ladders.totalLots(market, level)}`);
    }
  }
  return levels.sort();
}
