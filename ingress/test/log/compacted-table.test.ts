import { aheadMax, CompactedTable } from '@pm/domain/commands/compacted-table.io';
import { Fault } from '@pm/kit/fault';
import { MemoryTopic } from '../table-fixture.ts';

const settled = () => new Promise((resolve) => setImmediate(resolve));

/** One process's view of the table. */
function openProcess(topic: MemoryTopic<number>) {
  const known: number[] = [];
  const table = topic.open({ apply: (value) => known.push(value), forget: () => known.push(-1) });
  return { table, known };
}

test('a write counts here at once, elsewhere when it is read, and is not applied twice', async () => {
  const topic = new MemoryTopic<number>();
  const [left, right] = [openProcess(topic), openProcess(topic)];
  await left.table.write([{ key: 'a', value: 1 }]);
  expect(left.known).toEqual([1]);
  await settled();
  expect([left.known, right.known]).toEqual([[1], [1]]);
});

test('an entry from before an own newer one is not applied when it is read', async () => {
  const topic = new MemoryTopic<number>();
  topic.isHeldUp = true;
  const [left, right] = [openProcess(topic), openProcess(topic)];
  await right.table.write([{ key: 'a', value: 1 }]);
  await left.table.write([{ key: 'a', value: 2 }]);
  await left.table.write([{ key: 'a', value: null }]);
  expect(left.known).toEqual([2, -1]);
  topic.goOn();
  expect(left.known).toEqual([2, -1]);
  expect(right.known).toEqual([1, 2, -1]);
  await right.table.write([{ key: 'a', value: 4 }]);
  await settled();
  expect(left.known).toEqual([2, -1, 4]);
});

test('keys do not hide each other', async () => {
  const topic = new MemoryTopic<number>();
  topic.isHeldUp = true;
  const [left, right] = [openProcess(topic), openProcess(topic)];
  await right.table.write([{ key: 'b', value: 1 }]);
  await left.table.write([{ key: 'a', value: 2 }]);
  topic.goOn();
  expect(left.known).toEqual([2, 1]);
});

test('an entry that is read back before its write is known to be durable counts once', async () => {
  const known: number[] = [];
  const table: CompactedTable<number> = new CompactedTable(
    { apply: (value) => known.push(value) },
    async (entries) => {
      for (const [offset, { key, value }] of entries.entries()) table.take(value, { key, offset });
      return entries.map((_entry, offset) => offset);
    },
  );
  await table.write([{ key: 'a', value: 1 }]);
  expect(known).toEqual([1]);
  table.take(7, { key: 'a', offset: 1 });
  expect(known).toEqual([1, 7]);
});

test('a write that fails counts nowhere', async () => {
  const topic = new MemoryTopic<number>();
  const { table, known } = openProcess(topic);
  topic.fault = new Fault('not_sent', 'retry');
  await expect(table.write([{ key: 'a', value: 1 }])).rejects.toThrow('not_sent');
  expect(known).toEqual([]);
});

test('a reader that is held up ends writing before memory does', async () => {
  const topic = new MemoryTopic<number>();
  topic.isHeldUp = true;
  const { table } = openProcess(topic);
  const entries = Array.from({ length: aheadMax }, (_one, at) => ({ key: String(at), value: at }));
  await table.write(entries);
  const more = table.write([{ key: 'more', value: 1 }]);
  await expect(more).rejects.toMatchObject({ code: 'table_behind', reaction: 'retry' });
});
