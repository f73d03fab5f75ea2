import { openEngine } from '../stream/engines.ts';
import { decodeEnvelope, encodeEnvelopes } from '../stream/envelopes.ts';
import { countNpm, NpmBooks, npmCommand } from '../stream/npm-books.ts';
import { countEvents, emptyOutcome, levelTexts } from '../stream/outcome.ts';
import { booksOf, type PlainCommand, type Shape } from '../stream/plain.ts';
import { rulesFor } from './rates.ts';

export interface Agreement {
  readonly fills: number;
  readonly volume: number;
  readonly levels: number;
  readonly refused: number;
  readonly restingOrders: number;
}

/**
 * Runs the stream through our core in both wordings and through nodejs-order-book. Throws unless fills, volume and every
 * resting level agree, and nothing was refused: an engine that differs has no figure.
 */
export function checkAgainstNpm(stream: readonly PlainCommand[], shape: Shape): Agreement {
  const npm = npmResult(stream, shape);
  const direct = ownResult(stream, shape, 'direct');
  const complement = ownResult(stream, shape, 'complement');
  for (const own of [direct, complement]) {
    const same = own.fills === npm.fills && own.volume === npm.volume;
    if (!same || own.refused > 0 || own.levels.join() !== npm.levels.join()) {
      throw new Error(
        `the engines differ on ${shape.name}, so there is no figure: ours ${JSON.stringify({ ...own, levels: own.levels.length })}, nodejs-order-book ${JSON.stringify({ ...npm, levels: npm.levels.length })}`,
      );
    }
  }
  return { ...direct, levels: direct.levels.length };
}

function npmResult(stream: readonly PlainCommand[], shape: Shape) {
  const outcome = emptyOutcome();
  const books = new NpmBooks(booksOf(shape));
  for (const plain of stream) {
    const command = npmCommand(plain);
    countNpm(outcome, command, books.run(command));
  }
  return { ...outcome, levels: books.levels() };
}

function ownResult(
  stream: readonly PlainCommand[],
  shape: Shape,
  wording: 'direct' | 'complement',
) {
  const rules = rulesFor(shape, wording);
  const engine = openEngine(rules);
  const outcome = emptyOutcome();
  const levels = new Map<string, number>();
  for (const bytes of encodeEnvelopes(stream, rules)) {
    countEvents(outcome, engine.apply(decodeEnvelope(bytes), 0).events, levels);
  }
  engine.assertInvariants();
  return { ...outcome, levels: levelTexts(levels), restingOrders: engine.openOrderCount };
}
