import { present } from '@pm/kit/assert';
import type { IncomingRecord } from '@pm/kit/kafka';
import { type Execution, executionChainBytes } from '@pm/schemas/log/executions';
import { registryHeaderBytes } from '@pm/schemas/log/topics';
import { eachExecution } from '../../src/executions/each-execution.io.ts';
import { ExecutionReader } from '../../src/executions/execution-reader.io.ts';
import { InputSequence } from '../../src/executions/input-sequence.ts';
import { newestInputs } from '../../src/executions/newest-inputs.io.ts';
import { fakeLog, sealed } from './fake-log.ts';

/** Executions in input order; logs of different keys have different chains. */
function executionsOf(count: number, key: number): readonly Execution[] {
  return Array.from({ length: count }, (_, inOffset) => ({
    chain: Buffer.alloc(32),
    inOffset,
    timeMs: 1_000 + inOffset,
    keyId: Buffer.alloc(8, key),
    sequence: inOffset,
    events: [{ kind: 'LevelChanged', market: 1, side: 'BUY', price: 1 + inOffset, sizeMicro: 10 }],
  }));
}

const chainOf = (record: IncomingRecord | undefined): Buffer | undefined =>
  record?.value?.subarray(registryHeaderBytes, registryHeaderBytes + executionChainBytes);

const records = sealed(executionsOf(20, 1));
const unreadable = {
  offset: 0,
  key: null,
  value: Buffer.from('000000000100', 'hex'),
  timestampMs: 0,
};

describe('the reader of executions', () => {
  test('reads from any offset on, knowing what came before', async () => {
    for (const from of [0, 1, 13, 20]) {
      const reader = await ExecutionReader.open(fakeLog(records), 0, from);
      expect([reader.nextInOffset, reader.lastTimeMs]).toEqual([from, from && 999 + from]);
      const taken = await reader.take(records.slice(from));
      expect(taken.map(({ execution }) => execution?.inOffset)).toEqual(
        records.slice(from).map(({ offset }) => offset),
      );
    }
  });

  test('drops what an old owner repeats, also right after a restart', async () => {
    const tail = records.slice(5, 10).map((record, index) => ({ ...record, offset: 10 + index }));
    const rest = records.slice(10).map((record) => ({ ...record, offset: record.offset + 5 }));
    const log = [...records.slice(0, 10), ...tail, ...rest];
    for (const from of [0, 12, 15]) {
      const reader = await ExecutionReader.open(fakeLog(log), 0, from);
      const taken = await reader.take(log.slice(from));
      const fresh = taken.flatMap(({ execution }) =>
        execution === null ? [] : [execution.inOffset],
      );
      const first = from === 0 ? 0 : 10;
      expect(fresh).toEqual(Array.from({ length: 20 - first }, (_, index) => first + index));
    }
  });

  test.each([
    ['that begins early', 300],
    ['that begins late', 5_300],
  ])('knows the newest input in a run of repetitions %s', async (_, again) => {
    const [owned, count] = [5_500, 5_700];
    const all = sealed(executionsOf(count, 1));
    const numbers = (from: number, to: number) =>
      Array.from({ length: to - from }, (_, at) => from + at);
    const repeated = numbers(again, owned);
    const inputs = [...numbers(0, owned), ...repeated, ...repeated, ...numbers(owned, count)];
    const log = inputs.map((input, offset) => ({ ...present(all[input], 'each input'), offset }));
    const newAt = log.length - (count - owned);
    for (const from of [owned + 1, newAt - 4_500, newAt - 1, newAt, newAt + 1, log.length]) {
      const reader = await ExecutionReader.open(fakeLog(log), 0, from);
      const expected = Math.max(...inputs.slice(0, from)) + 1;
      expect(reader.nextInOffset).toBe(expected);
      expect(reader.chain).toEqual(chainOf(all[expected - 1]));
      const taken = await reader.take(log.slice(from));
      const fresh = taken.flatMap(({ execution }) => execution?.inOffset ?? []);
      expect(fresh).toEqual(numbers(expected, count));
    }
  });

  test('does not begin beyond the end of the log', async () => {
    const opened = ExecutionReader.open(fakeLog(records), 0, 21);
    await expect(opened).rejects.toMatchObject({ code: 'log_behind', reaction: 'retry' });
  });

  test('requires the clock that was stored for the record before its first one', async () => {
    const reader = await ExecutionReader.open(fakeLog(records), 0, 13);
    const judge = (offset: number, timeMs: number) => () =>
      reader.requireSameLog({ offset, timeMs });
    expect(judge(13, 1_012)).not.toThrow();
    expect(judge(13, 0)).not.toThrow();
    expect(judge(13, 1_011)).toThrow('log_replaced');
    expect(judge(14, 1_013)).not.toThrow();
  });

  test('stops at a missing record', async () => {
    const reader = await ExecutionReader.open(fakeLog(records), 0, 0);
    await expect(reader.take([...records.slice(0, 3), ...records.slice(4)])).rejects.toThrow(
      'execution_gap',
    );
  });

  test('stops where the chain is broken', async () => {
    const forged = sealed(executionsOf(20, 2));
    const reader = await ExecutionReader.open(fakeLog(records), 0, 0);
    await expect(reader.take([...records.slice(0, 9), ...forged.slice(9)])).rejects.toThrow(
      'chain_broken',
    );
  });

  test('stops at bytes that are no execution', async () => {
    const reader = await ExecutionReader.open(fakeLog(records), 0, 0);
    await expect(reader.take([unreadable])).rejects.toMatchObject({
      code: 'execution_unreadable',
      reaction: 'stop',
      facts: { topic: 'executions', partition: 0, offset: 0 },
    });
  });
});

describe('each execution of a batch', () => {
  test('is passed on with its offset, repetitions included', async () => {
    const { codec } = fakeLog([]);
    const batch = { partition: 3, records: [...records.slice(0, 2), ...records.slice(0, 2)] };
    const seen: string[] = [];
    await eachExecution(batch, codec, ({ inOffset }, offset) => seen.push(`${inOffset}@${offset}`));
    expect(seen).toEqual(['0@0', '1@1', '0@0', '1@1']);
  });

  test('is passed on before the next one is decoded, and none after one that cannot be read', async () => {
    const { codec } = fakeLog([]);
    for (const value of [null, unreadable.value]) {
      const broken = { ...unreadable, offset: 1, value };
      const seen: number[] = [];
      const batch = { partition: 3, records: [...records.slice(0, 1), broken, ...records] };
      const read = eachExecution(batch, codec, (_, offset) => seen.push(offset));
      const fault = { code: 'execution_unreadable', facts: { partition: 3, offset: 1 } };
      await expect(read).rejects.toMatchObject(fault);
      expect(seen).toEqual([0]);
    }
  });
});

describe('the input sequence', () => {
  test('takes what follows, drops repetitions and sees gaps', () => {
    const sequence = new InputSequence(-1);
    const orders = [0, 1, 0, 1, 2, 4, 3].map((inOffset) => sequence.take({ inOffset }));
    expect(orders).toEqual(['next', 'next', 'repeated', 'repeated', 'next', 'gap', 'next']);
  });
});

test('the newest input in front of an offset is known although only its copies are read first', async () => {
  const copies = records.slice(8, 14).map((record, index) => ({ ...record, offset: 20 + index }));
  const newest = await newestInputs(fakeLog([...records, ...copies]), new Map([[0, 23]]));
  expect([...newest]).toEqual([[0, { inOffset: 19, clockMs: 1_019 }]]);
  expect([...(await newestInputs(fakeLog(records), new Map([[0, 0]])))]).toEqual([]);
});
