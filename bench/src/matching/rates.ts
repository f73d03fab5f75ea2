import { Book } from '@pm/matcher/core';
import { cpuSeconds } from '../report/on-cpu.ts';
import { openEngine } from '../stream/engines.ts';
import {
  decodeEnvelope,
  type EnvelopeRules,
  encodeEnvelopes,
  groupsOf,
  type Wording,
} from '../stream/envelopes.ts';
import { NpmBooks, npmCommand } from '../stream/npm-books.ts';
import { booksOf, type PlainCommand, type Shape } from '../stream/plain.ts';

/** Commands a second of processor time, one sample per round. */
export interface Rates {
  readonly npm: readonly number[];
  readonly direct: readonly number[];
  readonly complement: readonly number[];
  readonly bare: readonly number[];
}

/** Commands made ready outside of the measured time before they run inside of it. */
const chunkCommands = 2_048;
const perEnvelope = 256;

export function rulesFor(shape: Shape, wording: Wording): EnvelopeRules {
  const acceptedAtMs = () => 1_790_000_000_000;
  return { wording, books: booksOf(shape), tick: shape.tick, perEnvelope, acceptedAtMs };
}

/** All engines in turn, round by round. */
export function measureRates(stream: readonly PlainCommand[], shape: Shape, rounds: number): Rates {
  const rates = { npm: [], direct: [], complement: [], bare: [] } as Record<keyof Rates, number[]>;
  const encoded = {
    direct: encodeEnvelopes(stream, rulesFor(shape, 'direct')),
    complement: encodeEnvelopes(stream, rulesFor(shape, 'complement')),
  };
  for (let round = 0; round < rounds; round += 1) {
    rates.npm.push(stream.length / npmSeconds(stream, shape));
    for (const wording of ['direct', 'complement'] as const) {
      const seconds = ownSeconds(encoded[wording], rulesFor(shape, wording));
      rates[wording].push(stream.length / seconds);
    }
    rates.bare.push(stream.length / bareSeconds(stream, shape));
  }
  return rates;
}

function npmSeconds(stream: readonly PlainCommand[], shape: Shape): number {
  const books = new NpmBooks(booksOf(shape));
  let seconds = 0;
  for (const chunk of groupsOf(stream, chunkCommands)) {
    const commands = chunk.map(npmCommand);
    const started = cpuSeconds();
    for (const command of commands) books.run(command);
    seconds += cpuSeconds() - started;
  }
  return seconds;
}

function ownSeconds(encoded: readonly Buffer[], rules: EnvelopeRules): number {
  const engine = openEngine(rules);
  let seconds = 0;
  for (const chunk of groupsOf(encoded, chunkCommands / perEnvelope)) {
    const envelopes = chunk.map(decodeEnvelope);
    const started = cpuSeconds();
    for (const envelope of envelopes) engine.apply(envelope, 0);
    seconds += cpuSeconds() - started;
  }
  return seconds;
}

/** Ladders and queues alone: what the checks, the money and the events of the engine are charged on top of. */
function bareSeconds(stream: readonly PlainCommand[], shape: Shape): number {
  const book = new Book();
  for (let index = 0; index < booksOf(shape); index += 1) book.addMarket(shape.tick);
  const slots = new Int32Array(stream.length).fill(-1);
  const left = new Int32Array(stream.length);
  const idOfSlot: number[] = [];
  let taker = 0;
  const onFill = (maker: number, lots: number) => {
    for (const id of [taker, idOfSlot[maker] ?? 0]) left[id] = (left[id] ?? 0) - lots;
    if (left[idOfSlot[maker] ?? 0] === 0) slots[idOfSlot[maker] ?? 0] = -1;
  };
  const started = cpuSeconds();
  for (const [index, plain] of stream.entries()) {
    if (plain.kind === 'cancel') {
      const slot = slots[plain.id] ?? -1;
      if (slot !== -1) book.remove(slot);
      slots[plain.id] = -1;
    } else {
      const { isBid, price, lots } = plain;
      const entry = { market: plain.book, isBid, price, lots, rests: plain.kind === 'add' };
      taker = plain.id;
      left[taker] = lots;
      const slot = book.place(entry, onFill);
      slots[plain.id] = slot;
      if (slot !== -1) idOfSlot[slot] = plain.id;
    }
    if (index % perEnvelope === 0) book.endRecord();
  }
  return cpuSeconds() - started;
}
