import { collectGarbage } from '../report/garbage.ts';
import type { NpmEngine } from '../stream/npm-books.ts';
import { byEitherToken, onSharedBooks, type Stream } from '../stream/plain.ts';
import { booksOf } from '../stream/shape.ts';
import { type Run, runNpm, runOwn } from './book-runs.ts';

/** Commands a second of processor time, one sample per round, by name. */
export interface BookRates {
  readonly npm: Readonly<Record<string, readonly number[]>>;
  readonly own: readonly number[];
  /** Rates of the own engine with the same books and orders, each order in a random token. */
  readonly coin: readonly number[];
  /** Both tokens of a market in one book. */
  readonly shared: readonly number[];
  readonly fills: number;
  readonly sharedFills: number;
  readonly volume: number;
  readonly levels: number;
  readonly resting: number;
}

/**
 * All engines in turn, round by round, each with fresh books; the npm engines take part in the first `npmRounds`.
 * Throws unless fills, volume and every resting level are the same in all of them: an engine that differs has no
 * figure.
 */
export function measureBooks(
  stream: Stream,
  engines: readonly NpmEngine[],
  { rounds, npmRounds }: { readonly rounds: number; readonly npmRounds: number },
): BookRates {
  const rates = { own: [] as number[], coin: [] as number[], shared: [] as number[] };
  const npm = Object.fromEntries(engines.map(({ name }) => [name, [] as number[]]));
  const expected = runOwn(stream);
  const sharedMarkets = stream.shape.markets;
  const together = runOwn(onSharedBooks(stream), sharedMarkets);
  const wordings = [
    { name: 'own', stream, markets: booksOf(stream.shape), expected },
    { name: 'coin', stream: byEitherToken(stream), markets: booksOf(stream.shape), expected },
    { name: 'shared', stream: onSharedBooks(stream), markets: sharedMarkets, expected: together },
  ] as const;
  for (let round = 0; round < rounds; round += 1) {
    for (const engine of round < npmRounds ? engines : []) {
      collectGarbage();
      const run = runNpm(engine, stream);
      assertSame(engine.name, run, expected);
      npm[engine.name]?.push(stream.count / run.seconds);
    }
    for (let turn = 0; turn < wordings.length; turn += 1) {
      // Another one begins each round, so that none is always the first after the others.
      const wording = wordings[(round + turn) % wordings.length] as (typeof wordings)[number];
      collectGarbage();
      const run = runOwn(wording.stream, wording.markets);
      assertSame(`ours, ${wording.name}`, run, wording.expected);
      rates[wording.name].push(stream.count / run.seconds);
    }
  }
  const { fills, volume, resting, levels } = expected;
  const sharedFills = together.fills;
  return { npm, ...rates, fills, sharedFills, volume, levels: levels.length, resting };
}

function assertSame(name: string, run: Run, expected: Run): void {
  const isSame = run.fills === expected.fills && run.volume === expected.volume;
  if (isSame && run.levels.join() === expected.levels.join()) return;
  const facts = ({ fills, volume, levels }: Run) => ({ fills, volume, levels: levels.length });
  throw new Error(
    `${name} differs, so there is no figure: ${JSON.stringify([facts(run), facts(expected)])}`,
  );
}
