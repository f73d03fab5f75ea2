import { firstChain, sealExecution } from '@pm/domain/signoff/records';
import fc from 'fast-check';
import { PartitionStateStore, partitionStates } from '../../src/partition/liveness.ts';
import { ExecutionSource } from '../../src/partition/stored-executions.io.ts';
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
    // Late copies of a zombie: a run of what is already there.
    const back = copies[inOffset] ?? 0;
    for (let at = Math.max(0, inOffset - back); back > 0 && at <= inOffset; at += 1) {
      log.append('executions', values[at] ?? null);
    }
  }
  return log;
}

function sourceOf(log: MemoryLog): ExecutionSource {
  return new ExecutionSource({ log, codec: codecs.executions, topic: 'executions', partition });
}

describe('execution source', () => {
  test('finds the output of every input, however many copies stand between', async () => {
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

  test('says so when retention took it', async () => {
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

describe('partition states', () => {
  const paths = {
    released: [],
    restoring: ['restoring'],
    live: ['restoring', 'live'],
    failed: ['restoring', 'failed'],
  } as const;
  const allowed = new Set([
    'released>restoring',
    'restoring>live',
    'restoring>failed',
    'restoring>released',
    'live>failed',
    'live>released',
    'failed>restoring',
    'failed>released',
  ]);

  for (const from of partitionStates) {
    for (const to of partitionStates) {
      const may = allowed.has(`${from}>${to}`);
      test(`${from} ${may ? 'may' : 'may not'} become ${to}`, () => {
        const seen: string[] = [];
        const states = new PartitionStateStore(1, (state) => seen.push(state));
        for (const step of paths[from]) states.change(step);
        if (may) states.change(to);
        else expect(() => states.change(to)).toThrow('forbidden_transition');
        expect(states.state).toBe(may ? to : from);
        expect(seen.at(-1)).toBe(states.state);
      });
    }
  }
});
