import { firstChain, sealExecution } from '@pm/domain/signoff/records';
import fc from 'fast-check';
import { StoredExecutions } from '../../src/partition/stored-executions.io.ts';
import { MemoryLog } from './memory-log.ts';
import { codecs, partition } from './sealed-records.ts';

/** Copies after an output: from so many before it on, and so many of them. */
interface LateCopies {
  readonly back: number;
  readonly count: number;
}

function logWith(copies: readonly LateCopies[], count = 40): MemoryLog {
  const log = new MemoryLog();
  const values: Buffer[] = [];
  let chain = firstChain;
  for (let inOffset = 0; inOffset < count; inOffset += 1) {
    const body = { inOffset, timeMs: 1, keyId: Buffer.alloc(8), sequence: 0, events: [] };
    const sealed = sealExecution(codecs.executions, chain, body);
    chain = sealed.chain;
    values.push(sealed.value);
    log.append('executions', sealed.value);
    // Late copies of a former owner: a run of outputs that are stored already, which may end before the newest one.
    const late = copies[inOffset] ?? { back: 0, count: 0 };
    const from = Math.max(0, inOffset - late.back);
    for (const value of values.slice(from, from + late.count)) log.append('executions', value);
  }
  return log;
}

function sourceOf(log: MemoryLog): StoredExecutions {
  return new StoredExecutions({ log, codec: codecs.executions, topic: 'executions', partition });
}

describe('stored executions', () => {
  test('finds the output of every input, however many copies lie between', async () => {
    const late = fc.record({
      back: fc.integer({ min: 0, max: 6 }),
      count: fc.integer({ min: 0, max: 6 }),
    });
    const copies = fc.array(late, { minLength: 40, maxLength: 40 });
    await fc.assert(
      fc.asyncProperty(copies, async (given) => {
        const log = logWith(given);
        const source = sourceOf(log);
        const bounds = await source.bounds();
        for (const inOffset of [0, 1, 13, 38, 39]) {
          expect((await source.find(inOffset, bounds))?.inOffset).toBe(inOffset);
        }
        expect(await source.find(40, bounds)).toBeNull();
      }),
      { numRuns: 50, seed: 3 },
    );
  });

  test('finds no output that retention removed', async () => {
    const log = logWith([]);
    log.truncateBefore('executions', 20);
    const source = sourceOf(log);
    const bounds = await source.bounds();
    expect(await source.find(25, bounds)).toMatchObject({ inOffset: 25 });
    expect(await source.find(5, bounds)).toBeNull();
    expect(await source.tail(bounds)).toMatchObject({ inOffset: 39 });
  });

  test('an empty partition has no tail', async () => {
    const source = sourceOf(new MemoryLog());
    expect(await source.tail(await source.bounds())).toBeNull();
  });
});
