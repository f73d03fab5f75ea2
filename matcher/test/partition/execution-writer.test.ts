import { setImmediate as turn } from 'node:timers/promises';
import { Fault } from '@pm/kit/fault';
import type { OutgoingRecord, RecordPlace } from '@pm/kit/kafka';
import {
  defaultWriterLimits,
  ExecutionWriter,
  type OutputSlice,
  type WriterLimits,
} from '../../src/partition/execution-writer.io.ts';

interface ManualSend {
  readonly values: readonly string[];
  store(): Promise<void>;
  fail(fault: Fault): Promise<void>;
}

/** A writer whose sends the test ends by hand. */
function writerWith(limits: Partial<WriterLimits> = {}) {
  const sends: ManualSend[] = [];
  const stored: string[] = [];
  const faults: unknown[] = [];
  let offset = 100;
  const send = (records: readonly OutgoingRecord[]): Promise<readonly RecordPlace[]> =>
    new Promise((resolve, reject) => {
      const store = () => {
        resolve(records.map(({ partition }) => ({ partition, offset: offset++ })));
        return turn();
      };
      const fail = (fault: Fault) => {
        reject(fault);
        return turn();
      };
      sends.push({ values: records.map(({ value }) => String(value)), store, fail });
    });
  const writer = new ExecutionWriter({
    producer: { send },
    deadLetters: { send: async () => {} } as never,
    topic: 'executions',
    partition: 0,
    retry: { triesMax: 2, firstWaitMs: 1, waitMaxMs: 1, pause: async () => {} },
    limits: { ...defaultWriterLimits, ...limits },
    seals: { seal: (record) => record },
    places: { check: async () => {} },
    onStored: ({ outputs }, lastOffset) => stored.push(`${outputs.length}@${lastOffset}`),
    onFault: (error) => faults.push(error),
  });
  return { writer, sends, stored, faults };
}

function slice(...values: string[]): OutputSlice {
  const outputs = values.map((value) => ({ value: Buffer.from(value) }));
  return { outputs: outputs as never, rejected: [], snapshot: null };
}

test('sends what was computed during a send together, in order, and reports each slice', async () => {
  const { writer, sends, stored } = writerWith();
  await writer.push(slice('a', 'b'));
  await writer.push(slice('c'));
  await writer.push(slice('d', 'e'));
  await turn();
  expect(sends.map(({ values }) => values)).toEqual([['a', 'b']]);
  await sends[0]?.store();
  expect(sends.map(({ values }) => values)).toEqual([
    ['a', 'b'],
    ['c', 'd', 'e'],
  ]);
  await sends[1]?.store();
  await writer.stored();
  expect(stored).toEqual(['2@101', '1@102', '2@104']);
});

test.each<[string, Partial<WriterLimits>]>([
  ['outputs', { sendOutputsMax: 2 }],
  ['bytes', { sendBytesMax: 2 }],
])('a send of several slices has a limit of %s', async (_, limits) => {
  const { writer, sends } = writerWith(limits);
  for (const values of [['a'], ['b', 'c', 'd'], ['e'], ['f'], ['g']])
    await writer.push(slice(...values));
  for (let at = 0; at < 4; at += 1) {
    await turn();
    await sends[at]?.store();
  }
  expect(sends.map(({ values }) => values.join(''))).toEqual(['a', 'bcd', 'ef', 'g']);
});

test.each<[string, Partial<WriterLimits>]>([
  ['slices', { slicesMax: 2 }],
  ['bytes', { bytesMax: 2 }],
])('what is not durable has a limit of %s, beyond which a slice waits', async (_, limits) => {
  const { writer, sends } = writerWith(limits);
  await writer.push(slice('a'));
  await writer.push(slice('b'));
  let pushed = false;
  const third = writer.push(slice('c')).then(() => {
    pushed = true;
  });
  await turn();
  expect(pushed).toBe(false);
  await sends[0]?.store();
  await third;
  expect(sends.map(({ values }) => values)).toEqual([['a'], ['b']]);
});

test('a slice beyond all limits is sent when nothing is in flight', async () => {
  const { writer, sends } = writerWith({ bytesMax: 1, sendBytesMax: 1, sendOutputsMax: 1 });
  await writer.push(slice('large', 'larger'));
  await turn();
  expect(sends.map(({ values }) => values)).toEqual([['large', 'larger']]);
});

test('after a failed send nothing that waits is written, and the fault is reported once', async () => {
  const { writer, sends, stored, faults } = writerWith({ slicesMax: 2 });
  const fault = new Fault('send_outcome_unknown', 'release');
  await writer.push(slice('a'));
  await writer.push(slice('b'));
  const third = writer.push(slice('c')).catch((error: unknown) => error);
  await turn();
  await sends[0]?.fail(fault);
  expect(await third).toBe(fault);
  await expect(writer.push(slice('d'))).rejects.toBe(fault);
  await expect(writer.stored()).rejects.toBe(fault);
  expect(sends).toHaveLength(1);
  expect([stored, faults]).toEqual([[], [fault]]);
});

test('a send that was certainly not written is repeated as it was, before what waits', async () => {
  const { writer, sends, stored } = writerWith();
  await writer.push(slice('a'));
  await writer.push(slice('b'));
  await turn();
  await sends[0]?.fail(new Fault('not_sent', 'retry'));
  await sends[1]?.store();
  await sends[2]?.store();
  expect(sends.map(({ values }) => values)).toEqual([['a'], ['a'], ['b']]);
  expect(stored).toEqual(['1@100', '1@101']);
});
