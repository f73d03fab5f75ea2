import { cpuSeconds } from '../report/on-cpu.ts';
import { openEngine } from '../stream/engines.ts';
import {
  decodeEnvelope,
  type EnvelopeRules,
  encodeEnvelopes,
  groupsOf,
  type Wording,
} from '../stream/envelopes.ts';
import type { NpmEngine } from '../stream/npm-books.ts';
import { countEvents, emptyOutcome, levelTexts } from '../stream/outcome.ts';
import { plainCommands, type Stream } from '../stream/plain.ts';
import { booksOf, type Shape } from '../stream/shape.ts';
import { type Run, runNpm } from './book-runs.ts';

/** Commands a second of processor time, one sample per round. */
export interface EngineRates {
  readonly npm: readonly number[];
  readonly direct: readonly number[];
  readonly complement: readonly number[];
  /** Bytes the engine allocates for a command, decoding not included. */
  readonly allocatedBytes: number;
}

const perEnvelope = 256;
/** Envelopes decoded outside of the measured time before they run inside of it. */
const chunkEnvelopes = 8;

export function rulesFor(shape: Shape, wording: Wording): EnvelopeRules {
  const acceptedAtMs = () => 1_790_000_000_000;
  return { wording, books: booksOf(shape), tick: shape.tick, perEnvelope, acceptedAtMs };
}

/** The whole engine with every check and event, and one npm book in turn. */
export function measureEngine(stream: Stream, npmEngine: NpmEngine, rounds: number): EngineRates {
  const { shape, count } = stream;
  const encoded = {
    direct: encodeEnvelopes(plainCommands(stream), rulesFor(shape, 'direct')),
    complement: encodeEnvelopes(plainCommands(stream), rulesFor(shape, 'complement')),
  };
  const npmRun = runNpm(npmEngine, stream);
  const rates = {
    npm: [count / npmRun.seconds],
    direct: [] as number[],
    complement: [] as number[],
  };
  let allocatedBytes = 0;
  for (const wording of ['direct', 'complement'] as const) {
    assertAgrees(encoded[wording], rulesFor(shape, wording), npmRun);
  }
  for (let round = 0; round < rounds; round += 1) {
    if (round > 0) rates.npm.push(count / runNpm(npmEngine, stream).seconds);
    for (const wording of ['direct', 'complement'] as const) {
      const run = runEngine(encoded[wording], rulesFor(shape, wording));
      rates[wording].push(count / run.seconds);
      allocatedBytes = run.allocated / count;
    }
  }
  return { ...rates, allocatedBytes };
}

function runEngine(encoded: readonly Buffer[], rules: EnvelopeRules) {
  const engine = openEngine(rules);
  let [seconds, allocated, inRuns, all] = [0, 0, 0, 0];
  for (const chunk of groupsOf(encoded, chunkEnvelopes)) {
    const envelopes = chunk.map(decodeEnvelope);
    const before = process.memoryUsage().heapUsed;
    const started = cpuSeconds();
    for (const envelope of envelopes) engine.apply(envelope, 0);
    seconds += cpuSeconds() - started;
    const grown = process.memoryUsage().heapUsed - before;
    all += 1;
    // A collection in between makes the difference meaningless.
    if (grown <= 0) continue;
    inRuns += 1;
    allocated += grown;
  }
  return { seconds, allocated: (allocated / inRuns) * all };
}

/** Fills, volume and every level are those of the npm book, and nothing was refused. */
function assertAgrees(encoded: readonly Buffer[], rules: EnvelopeRules, npm: Run): void {
  const engine = openEngine(rules);
  const outcome = emptyOutcome();
  const levels = new Map<string, number>();
  for (const bytes of encoded) {
    countEvents(outcome, engine.apply(decodeEnvelope(bytes), 0).events, levels);
  }
  engine.assertInvariants();
  const isSame = outcome.fills === npm.fills && outcome.volume === npm.volume;
  if (isSame && outcome.refused === 0 && levelTexts(levels).join() === npm.levels.join()) return;
  throw new Error(
    `the engine differs, so there is no figure: ${JSON.stringify([outcome, npm.fills, npm.volume])}`,
  );
}
