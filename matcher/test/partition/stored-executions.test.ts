import { firstChain, sealExecution } from '@pm/domain/signoff/records';
import fc from 'fast-check';
import { StoredExecutions } from '../../src/partition/stored-executions.io.ts';
import { MemoryLog } from './memory-log.ts';
import { codecs, partition } from './sealed-records.ts';

function logWith(copies: readonly number[], count = 40): MemoryLog {
  const log = new MemoryLog();
  const values: Buffer[] = [];
  let chain = firstChain;
  for (let inOffset = 0; inOffset < count; inOffset += 1) {
    const body = { inOffset, timeMs: 1, keyId: Buffer.alloc(8), sequence: 0, events: [] };
    const sealed = sealExecution(codecs.executions, chain, body);
    chain = sealed.chain;
    values.push(sealed.value);
    log.append('executions', sealed.value);
    // Late copies of a replaced owner: a run of outputs that are stored already.
    const back = copies[inOffset] ?? 0;
    for (let at = Math.max(0, inOffset - back); back > 0 && at <= inOffset; at += 1) {
      log.append('executions', values[at] ?? null);
    }
  }
  return log;
}

function sourceOf(log: MemoryLog): StoredExecutions {
  return new StoredExecutions({ log, codec: codecs.executions, topic: 'executions', partition });
}

describe('stored executions', () => {
  test('finds the output of every input, however many copies lie between', async () => {
    const copies = fc.array(fc.integer({ min: 0, max: 6 }), { minLength: 40, maxLength: 40 });
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
