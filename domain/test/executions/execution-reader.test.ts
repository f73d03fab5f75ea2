import { TinyExchange } from '../../../projectors/test/log.ts';
import { ExecutionSource } from '../../src/executions/execution-reader.io.ts';
import { fakeLog, sealed } from './fake-log.ts';

const records = sealed(new TinyExchange(1).records(20));

describe('the execution source', () => {
  test('reads from any offset on, knowing what came before', async () => {
    for (const from of [0, 1, 13, 20]) {
      const source = await ExecutionSource.open(fakeLog(records), 0, from);
      const taken = await source.take(records.slice(from));
      expect(taken.map(({ execution }) => execution?.inOffset)).toEqual(
        records.slice(from).map(({ offset }) => offset),
      );
    }
  });

  test('drops what an old owner repeats, also right behind a restart', async () => {
    const tail = records.slice(5, 10).map((record, index) => ({ ...record, offset: 10 + index }));
    const rest = records.slice(10).map((record) => ({ ...record, offset: record.offset + 5 }));
    const log = [...records.slice(0, 10), ...tail, ...rest];
    for (const from of [0, 12, 15]) {
      const source = await ExecutionSource.open(fakeLog(log), 0, from);
      const taken = await source.take(log.slice(from));
      const fresh = taken.flatMap(({ execution }) =>
        execution === null ? [] : [execution.inOffset],
      );
      const first = from === 0 ? 0 : 10;
      expect(fresh).toEqual(Array.from({ length: 20 - first }, (_, index) => first + index));
    }
  });

  test('stops at a missing record', async () => {
    const source = await ExecutionSource.open(fakeLog(records), 0, 0);
    await expect(source.take([...records.slice(0, 3), ...records.slice(4)])).rejects.toThrow(
      'execution_gap',
    );
  });

  test('stops where the chain is broken', async () => {
    const forged = sealed(new TinyExchange(2).records(20));
    const source = await ExecutionSource.open(fakeLog(records), 0, 0);
    await expect(source.take([...records.slice(0, 9), ...forged.slice(9)])).rejects.toThrow(
      'chain_broken',
    );
  });

  test('stops at bytes that are no execution', async () => {
    const source = await ExecutionSource.open(fakeLog(records), 0, 0);
    const broken = {
      offset: 0,
      key: null,
      value: Buffer.from('000000000100', 'hex'),
      timestampMs: 0,
    };
    await expect(source.take([broken])).rejects.toThrow('execution_unreadable');
  });
});
