import { firstChain, sealWritten } from '@pm/domain/signoff/records';
import type { RecordCodec } from '@pm/kit/registry';
import { Engine } from '@pm/matcher/core';
import type { Execution } from '@pm/schemas/log/executions';
import type { Command, Envelope } from '@pm/schemas/log/orders';
import { openingEnvelopes } from '../stream/engines.ts';
import { CommandWriter, type EnvelopeRules, envelopeOf, groupsOf } from '../stream/envelopes.ts';
import { makeStream, plainCommands } from '../stream/plain.ts';
import { booksOf, type Shape } from '../stream/shape.ts';

export interface TradingShape {
  readonly shape: Shape;
  /** Commands of one envelope, and of one second on the partition's clock. */
  readonly perEnvelope: number;
  readonly perSecond: number;
  /** Where the clock begins, Unix milliseconds. */
  readonly startMs: number;
}

/** Records that the matcher would write to `executions[0]`. */
export interface Trading {
  /** Record values until trading begins: markets listed, wallets funded. */
  readonly opening: readonly Buffer[];
  readonly stream: readonly Buffer[];
  readonly commands: number;
  readonly fills: number;
  readonly refusals: number;
}

/** Applies a seeded stream to the real engine and seals its output, like the matcher. */
export function makeTrading(
  codec: Pick<RecordCodec<Execution>, 'encode'>,
  given: TradingShape,
): Trading {
  const clock = { timeMs: given.startMs };
  const rules = rulesOf(given, clock);
  const sealer = new Sealer(codec);
  const opening = openingEnvelopes(rules).map((envelope) => sealer.seal(envelope));
  const before = { fills: sealer.fills, refusals: sealer.refusals };
  if (before.refusals > 0) throw new Error('an opening command was refused');
  const stream: Buffer[] = [];
  const writer = new CommandWriter(rules);
  for (const group of groupsOf(plainCommands(makeStream(given.shape)), given.perEnvelope)) {
    clock.timeMs += Math.round((given.perEnvelope * 1_000) / given.perSecond);
    const tick: Command = { kind: 'Tick', term: 0, timeMs: clock.timeMs };
    const commands = [tick, ...group.map((plain) => writer.write(plain))];
    stream.push(sealer.seal(envelopeOf(commands, opening.length + stream.length)));
  }
  const { fills, refusals } = sealer;
  return { opening, stream, commands: given.shape.commands, fills, refusals };
}

function rulesOf({ shape, perEnvelope }: TradingShape, clock: { timeMs: number }): EnvelopeRules {
  return {
    wording: 'complement',
    books: booksOf(shape),
    tick: shape.tick,
    // The catalog of the benchmarks numbers its markets from 1 on.
    firstMarket: 1,
    perEnvelope,
    acceptedAtMs: () => clock.timeMs,
  };
}

/** One partition without its Kafka. */
class Sealer {
  readonly #engine = new Engine(0);
  readonly #codec: Pick<RecordCodec<Execution>, 'encode'>;
  #chain = firstChain;
  #inOffset = 0;
  fills = 0;
  refusals = 0;

  constructor(codec: Pick<RecordCodec<Execution>, 'encode'>) {
    this.#codec = codec;
  }

  seal(envelope: Envelope): Buffer {
    const inOffset = this.#inOffset++;
    const { timeMs, written } = this.#engine.apply(envelope, inOffset);
    this.fills += written.fills;
    this.refusals += written.refusals.length;
    const { keyId, sequence } = envelope;
    const head = { inOffset, timeMs, keyId, sequence };
    const { value, chain } = sealWritten(this.#codec, this.#chain, { head, written });
    this.#chain = chain;
    return value;
  }
}
