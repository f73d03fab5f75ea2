import { isDeepStrictEqual } from 'node:util';
import { Random } from '@pm/kit/random';
import type { OutputSlice } from '../../src/partition/execution-writer.io.ts';
import type { OutputRecord } from '../../src/partition/record-processor.ts';
import { UnseenOutputs } from '../../src/partition/unseen-outputs.ts';

const limits = { outputsMax: 1_000_000, bytesMax: 1_000_000 };

function sliceOf(from: number, count: number): OutputSlice {
  const outputs = Array.from({ length: count }, (_, at) => ({
    inOffset: from + at,
    value: Buffer.alloc(10),
  })) as unknown as readonly OutputRecord[];
  const rejected = outputs
    .filter(({ inOffset }) => inOffset % 2 === 0)
    .map(({ inOffset: offset }) => ({ record: { offset, value: null }, reason: 'UNREADABLE' }));
  return { outputs, rejected, snapshot: null };
}

/** Both the class and a plain list of inputs. */
class Comparison {
  readonly unseen = new UnseenOutputs<OutputSlice>(limits);
  readonly list: number[] = [];
  readonly #random: Random;
  #next = 0;

  constructor(seed: number) {
    this.#random = new Random(seed);
  }

  step(): void {
    const roll = this.#random.below(4);
    if (roll < 2) this.#push();
    else if (roll === 2) this.#see();
    else this.#take(this.#random.below(2) === 0);
    const found = [this.unseen.first?.inOffset, this.unseen.outputs];
    const expected = [this.list[0], this.list.length];
    // An assertion takes longer than the step.
    if (found.join() !== expected.join()) expect(found).toEqual(expected);
  }

  #push(): void {
    const slice = sliceOf(this.#next, 1 + this.#random.below(5));
    this.unseen.push(slice);
    for (const { inOffset } of slice.outputs) this.list.push(inOffset);
    this.#next += slice.outputs.length;
  }

  #see(): void {
    const seen = this.list.shift();
    const done = this.unseen.see();
    const newest = done?.outputs.at(-1)?.inOffset;
    if (done !== null && newest !== seen) expect(newest).toBe(seen);
  }

  #take(isPutBack: boolean): void {
    const taken = this.unseen.take();
    if (taken === null) return;
    const inputs = taken.outputs.map(({ inOffset }) => inOffset);
    const found = { inputs, rejected: taken.rejected.map(({ record }) => record.offset) };
    const even = inputs.filter((one) => one % 2 === 0);
    const expected = { inputs: this.list.slice(0, inputs.length), rejected: even };
    if (!isDeepStrictEqual(found, expected)) expect(found).toEqual(expected);
    if (isPutBack) this.unseen.putBack([taken]);
    else this.list.splice(0, inputs.length);
  }
}

describe('outputs that are not known to be stored', () => {
  test('are those of a plain list, whatever is seen, taken and put back', () => {
    for (let seed = 1; seed <= 50; seed += 1) {
      const both = new Comparison(seed);
      for (let step = 0; step < 200; step += 1) both.step();
    }
  });

  test('have a bound in number and in bytes', () => {
    const few = new UnseenOutputs<OutputSlice>({ outputsMax: 3, bytesMax: 1_000 });
    few.push(sliceOf(0, 2));
    expect(few.hasRoom).toBe(true);
    few.push(sliceOf(2, 1));
    expect(few.hasRoom).toBe(false);
    few.see();
    expect(few.hasRoom).toBe(true);
    const small = new UnseenOutputs<OutputSlice>({ outputsMax: 1_000, bytesMax: 20 });
    small.push(sliceOf(0, 2));
    expect(small.hasRoom).toBe(false);
    small.take();
    expect(small.hasRoom).toBe(true);
  });
});
