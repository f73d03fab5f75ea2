import { checkAgainstNpm } from './matching/agreement.ts';
import { measureLatencies } from './matching/latencies.ts';
import { measureMemory } from './matching/memory.ts';
import { measureRates, type Rates } from './matching/rates.ts';
import { readArguments } from './report/arguments.ts';
import { rateText, ratioText, spreadOf, spreadText } from './report/numbers.ts';
import { publish, type Table } from './report/report.ts';
import { makeStream, shapes } from './stream/plain.ts';

/** `npm run bench:matching`: the matching core against nodejs-order-book on the same commands. */
const given = readArguments({
  rounds: { default: 5, min: 1, max: 20 },
  'std-rounds': { default: 3, min: 0, max: 20 },
});

const figures: Record<string, unknown> = {};
const tables: Table[] = [];
const notes: string[] = [];

for (const [key, rounds] of [
  ['small', given.number('rounds')],
  ['std', given.number('std-rounds')],
] as const) {
  if (rounds === 0) continue;
  const shape = shapes[key];
  const stream = makeStream(shape);
  const agreed = checkAgainstNpm(stream, shape);
  notes.push(
    `${shape.name}: our core and nodejs-order-book agree on ${agreed.fills} fills, ${agreed.volume} lots and all ${agreed.levels} resting levels of ${stream.length} commands; ours refused ${agreed.refused} orders; ${agreed.restingOrders} orders rest at the end.`,
  );
  const rates = measureRates(stream, shape, rounds);
  tables.push(rateTable(shape.name, rates));
  figures[key] = { agreed, rates };
}

const latencies = measureLatencies(makeStream(shapes.small), shapes.small);
const memory = measureMemory();
tables.push(latencies.table, memory.table);

publish(
  {
    name: 'matching',
    title: 'Matching core against nodejs-order-book',
    conditions: [
      `Load: 100 markets of 2 tokens on a 0.001 grid, each token a book of its own (200 books), Zipf 1.05; 60 % adds (5 % of them crossing), 35 % cancels (1.5 % late), 5 % takers that do not rest; Pareto 1.25 sizes in whole lots from 5 shares; seeded.`,
      'Ours: Engine.apply on decoded envelopes of 256 commands, with every check of the product, fees, money, positions, id memory and all events. Wallets hold a million shares of each token of each market and every BUY names its full hold, so nothing is refused for money; buyers and sellers are different wallets (32 each), so there is no self-trade. The clock stands still.',
      'nodejs-order-book 10.1.1: one OrderBook per book, ready-made options, no accounts, no events, no money.',
      `Rounds in turn, a fresh engine each: ${given.number('rounds')} of small (300,000 commands), ${given.number('std-rounds')} of std cut to 600,000 (of 2,000,000). Commands a second of processor time, garbage collection included, min / median / max.`,
      'Not included: decoding, signatures, encoding, hashing, Kafka.',
    ],
    tables,
    notes: [...notes, ...latencies.notes, ...memory.notes],
    figures: { ...figures, latencies: latencies.figures, memory: memory.figures },
  },
  given,
);

function rateTable(name: string, rates: Rates): Table {
  const npm = spreadOf(rates.npm).median;
  const row = (label: string, samples: readonly number[]) => {
    const spread = spreadOf(samples);
    const ratios = samples.map((rate, index) => rate / (rates.npm[index] ?? Number.NaN));
    return [label, spreadText(spread), ratioText(spread.median / npm), ratiosText(ratios)];
  };
  return {
    title: `${name}: commands/s on one core (target: 20x)`,
    head: ['engine', 'commands/s', 'ratio of medians', 'ratio per round, min / median / max'],
    rows: [
      row('nodejs-order-book', rates.npm),
      row('ours, one token (complement never used)', rates.direct),
      row('ours, either token by a coin (complement in every book)', rates.complement),
      row('ours, the bare Book without accounts', rates.bare),
    ],
  };
}

function ratiosText(ratios: readonly number[]): string {
  const { min, median, max } = spreadOf(ratios);
  return `${rateText(min)} / ${rateText(median)} / ${rateText(max)}`;
}
