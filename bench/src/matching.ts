import { type BookRates, measureBooks } from './matching/book-rates.ts';
import { type EngineRates, measureEngine } from './matching/engine-rates.ts';
import { measureLatencies } from './matching/latencies.ts';
import { measureMemory } from './matching/memory.ts';
import { readArguments } from './report/arguments.ts';
import { ratioText, spreadOf, spreadText } from './report/numbers.ts';
import { publish, type Table } from './report/report.ts';
import { npmEngines } from './stream/npm-books.ts';
import { makeStream } from './stream/plain.ts';
import { type Shape, shapes } from './stream/shape.ts';

/** `npm run bench:matching`: the matching core against the book engines of npm on the same commands. */
const given = readArguments({
  rounds: { default: 5, min: 1, max: 20 },
  'npm-rounds': { default: 3, min: 0, max: 20 },
  'npm-rounds-beside': { default: 1, min: 0, max: 20 },
  /** Percent of the commands: less than all is for trying out. */
  share: { default: 100, min: 1, max: 100 },
});

const rounds = given.number('rounds');
const share = given.number('share') / 100;
const engines = await npmEngines();
const [npm] = engines;
if (npm === undefined) throw new Error('no engine to compare with');
const figures: Record<string, unknown> = {};
const tables: Table[] = [];
const notes: string[] = [];

for (const key of ['std', 'hot', 'wide'] as const) {
  const npmRounds = given.number(key === 'std' ? 'npm-rounds' : 'npm-rounds-beside');
  const stream = makeStream(cut(shapes[key]));
  const rates = measureBooks(stream, engines, { rounds, npmRounds });
  tables.push(bookTable(stream.shape, rates));
  notes.push(
    `${key}: all engines agree on ${rates.fills} fills, ${rates.volume} lots and all ${rates.levels} resting levels of ${stream.count} commands; ${rates.resting} orders rest at the end. Both tokens in one book make ${rates.sharedFills} fills.`,
  );
  figures[key] = rates;
}

const small = makeStream(cut(shapes.small));
const engineRates = measureEngine(small, npm, rounds);
const latencies = measureLatencies(makeStream(cut(shapes.std)), small, npm);
const memory = measureMemory(npm);
tables.push(engineTable(small.shape, engineRates), latencies.table, memory.table);
notes.push(
  `small: the engine and ${npm.name} agree on fills, lots and levels, and nothing is refused. Applying a command allocates ${Math.round(engineRates.allocatedBytes)} bytes, decoding not included; the book allocates nothing but when a table doubles.`,
);

publish(
  {
    name: 'matching',
    title: 'Matching core against the book engines of npm',
    conditions: [
      'Loads: markets of 2 tokens, each token a book of its own so that any engine can run them; books by Zipf 1.05; 60 % adds (5 % of them crossing), 35 % cancels (1.5 % late), 5 % takers that do not rest; Pareto 1.25 sizes in whole lots from 5 shares; seeded. std: 100 markets, 0.001 grid, 2,000,000 commands. hot: 1 market, 0.01 grid, 1,000,000. wide: 5,000 markets, 0.001 grid, 2,000,000. small: as std, 300,000.',
      'Our book: price levels and queues without accounts (BatchBook), fed with batches of 256 flat commands, giving flat fills and the list of changed levels. Orders are named by small numbers, as the engine names ids it has looked up. "Either token": the same books, each order said as a BUY or SELL of either token by a coin. "Both tokens in one book": as in the product, where the two tokens of a market trade with each other.',
      'Our engine: Engine.apply on decoded envelopes of 256 commands, with every check of the product, fees, money, positions, id memory and all events. Wallets hold a million shares of each token of each market and every BUY names its full hold, so nothing is refused for money; buyers and sellers are different wallets (32 each), so there is no self-trade. The clock stands still.',
      'Engines of npm: one OrderBook per book, ready-made options, string ids as they want them, no accounts, no money.',
      `Rounds in turn, fresh books each: ${rounds}, of which engines of npm take part in ${given.number('npm-rounds')} on std and ${given.number('npm-rounds-beside')} on hot and wide${share < 1 ? `; cut to ${share * 100} % of the commands` : ''}. Commands a second of processor time, garbage collection included, min / median / max.`,
      'Not included: decoding, signatures, encoding, hashing, Kafka.',
    ],
    tables,
    notes: [...notes, ...latencies.notes, ...memory.notes],
    figures: {
      ...figures,
      engine: engineRates,
      latencies: latencies.figures,
      memory: memory.figures,
    },
  },
  given,
);

function cut(shape: Shape): Shape {
  return { ...shape, commands: Math.round(shape.commands * share) };
}

function bookTable({ name }: Shape, rates: BookRates): Table {
  const medians = Object.values(rates.npm).map((samples) => spreadOf(samples).median);
  const known = medians.filter(Number.isFinite);
  const best = known.length === 0 ? Number.NaN : Math.max(...known);
  const own = spreadOf(rates.own).median;
  const row = (label: string, samples: readonly number[]) => {
    const spread = spreadOf(samples);
    const { median } = spread;
    return [label, spreadText(spread), ratioText(median / best), ratioText(median / own)];
  };
  return {
    title: `${name}: commands/s on one core${name === 'std' ? ' (targets: 60x the faster engine of npm; either token at least 0.95x)' : ''}`,
    head: ['engine', 'commands/s', 'to the faster of npm', 'to our book'],
    rows: [
      ...Object.entries(rates.npm).map(([label, samples]) => row(label, samples)),
      row('our book', rates.own),
      row('our book, either token', rates.coin),
      row('our book, both tokens in one book', rates.shared),
    ],
  };
}

function engineTable({ name }: Shape, rates: EngineRates): Table {
  const best = spreadOf(rates.npm).median;
  const row = (label: string, samples: readonly number[]) => {
    const spread = spreadOf(samples);
    return [label, spreadText(spread), ratioText(spread.median / best)];
  };
  return {
    title: `${name}: commands/s on one core, the whole engine`,
    head: ['engine', 'commands/s', 'ratio of medians'],
    rows: [
      row(npm?.name ?? '', rates.npm),
      row('our engine, one token (complement never used)', rates.direct),
      row('our engine, either token by a coin', rates.complement),
    ],
  };
}
