import { Fault } from '@pm/kit/fault';
import type { OutgoingRecord } from '@pm/kit/kafka';
import { openRecordCodec } from '@pm/kit/registry';
import type { Execution, ExecutionEvent } from '@pm/schemas/log/executions';
import { type Command, sequencesPerRun } from '@pm/schemas/log/orders';
import { topics } from '@pm/schemas/log/topics';
import { CommandSender, openCommandChannel } from '../../src/commands/command-channel.io.ts';
import { commandsQueueMax, EnvelopeSender } from '../../src/commands/envelope-sender.io.ts';
import { ResultWaiters } from '../../src/commands/result-waiters.ts';
import { openSignOffKey } from '../../src/signoff/keys.ts';

interface Sealed {
  readonly partition: number;
  readonly sequence: number;
  readonly commands: readonly Command[];
}

/** A producer whose sends end when the test says so. */
function openSink() {
  const sends: { sealed: Sealed; end: (error?: unknown) => void }[] = [];
  let last: Sealed | null = null;
  let sequence = 100;
  const sink = new EnvelopeSender({
    topic: 'orders',
    nextSequence: () => sequence++,
    seal: (envelope) => {
      last = envelope;
      return Buffer.from('sealed');
    },
    producer: {
      send: (records: readonly OutgoingRecord[]) =>
        new Promise((resolve, reject) => {
          if (last === null) throw new Error('sealed before sent');
          const places = records.map(({ partition }) => ({ partition, offset: 7 }));
          sends.push({
            sealed: last,
            end: (error) => (error === undefined ? resolve(places) : reject(error)),
          });
        }),
    },
  });
  return { sink, sends };
}

const tick = (timeMs: number): Command => ({ kind: 'Tick', term: 0, timeMs });
const turn = () => new Promise((resolve) => setImmediate(resolve));

test('what comes while a send is in flight goes into the next envelope, per partition', async () => {
  const { sink, sends } = openSink();
  const first = sink.add(0, tick(1));
  await turn();
  const tickets = [sink.add(0, tick(2)), sink.add(0, tick(3)), sink.add(1, tick(4))];
  await turn();
  expect(
    sends.map(({ sealed }) => [sealed.partition, sealed.sequence, sealed.commands.length]),
  ).toEqual([
    [0, 100, 1],
    [1, 102, 1],
  ]);
  expect([first, ...tickets].map((ticket) => [ticket?.sequence, ticket?.command])).toEqual([
    [100, 0],
    [101, 0],
    [101, 1],
    [102, 0],
  ]);
  sends[0]?.end();
  await turn();
  expect(sends[2]?.sealed.commands).toEqual([tick(2), tick(3)]);
  await expect(first?.sent).resolves.toBe(7);
  expect(sink.queued(0)).toBe(2);
});

test('commands of one iteration of the event loop are one envelope, of at most 512 commands', async () => {
  const { sink, sends } = openSink();
  for (let index = 0; index < 600; index += 1) sink.add(0, tick(index));
  await turn();
  sends[0]?.end();
  await turn();
  expect(sends.map(({ sealed }) => sealed.commands.length)).toEqual([512, 88]);
});

test('a full queue takes nothing more, and takes again when it has drained', async () => {
  const { sink, sends } = openSink();
  for (let index = 0; index < commandsQueueMax; index += 1)
    expect(sink.add(0, tick(index))).not.toBeNull();
  expect(sink.add(0, tick(0))).toBeNull();
  expect(sink.add(1, tick(0))).not.toBeNull();
  await turn();
  sends[0]?.end();
  await turn();
  expect(sink.add(0, tick(0))).not.toBeNull();
});

test('a failed send fails its own envelope only', async () => {
  const { sink, sends } = openSink();
  const failed = sink.add(0, tick(1));
  await turn();
  const next = sink.add(0, tick(2));
  sends[0]?.end(new Fault('not_sent', 'retry'));
  await turn();
  sends[1]?.end();
  await expect(failed?.sent).rejects.toMatchObject({ code: 'not_sent' });
  await expect(next?.sent).resolves.toBe(7);
  expect(sink.queued(0)).toBe(0);
});

function openRunner(waitMs = 50) {
  const { sink, sends } = openSink();
  const waiters = new ResultWaiters();
  const partitions = { has: (partition: number) => partition < 2 };
  const runner = new CommandSender({ envelopes: sink, waiters, partitions, waitMs });
  return { sends, waiters, runner };
}

const execution = (sequence: number, events: readonly ExecutionEvent[]) => ({
  sequence,
  inOffset: 7,
  events,
});

test('a command gets the events of its own index, with their place in the record', async () => {
  const { runner, waiters, sends } = openRunner();
  const outcomes = Promise.all([runner.run(0, tick(1)), runner.run(0, tick(2))]);
  await turn();
  sends[0]?.end();
  await turn();
  const events: readonly ExecutionEvent[] = [
    { kind: 'GenerationStarted', command: 1, generation: 1 },
    { kind: 'TopChanged', market: 1, bid: 0, ask: 0 },
    { kind: 'GenerationStarted', command: 0, generation: 2 },
  ];
  waiters.settle(0, execution(100, events));
  const place = { partition: 0, inOffset: 7 };
  expect(await outcomes).toMatchObject([
    { kind: 'executed', place, events: [{ index: 2, event: events[2] }] },
    { kind: 'executed', place, events: [{ index: 0, event: events[0] }] },
  ]);
  expect(waiters.count).toBe(0);
});

const merge = (byte: number): Command => ({
  kind: 'MergePosition',
  requestId: Buffer.alloc(32, byte),
  wallet: Buffer.alloc(20),
  market: 1,
  sizeMicro: 10_000,
});
const refusal = (byte: number, command = 0): ExecutionEvent => ({
  kind: 'CommandRefused',
  command,
  code: 'insufficient_position',
  requestId: Buffer.alloc(32, byte),
});

test('a result that is read before the send has ended counts if it names the request, or once the offset shows it', async () => {
  const { runner, waiters, sends } = openRunner();
  const named = runner.run(0, merge(1));
  const unnamed = runner.run(0, tick(1));
  await turn();
  waiters.settle(0, execution(100, [refusal(1)]));
  expect(await named).toMatchObject({ kind: 'executed' });
  expect(waiters.count).toBe(1);
  sends[0]?.end();
  expect(await unnamed).toMatchObject({ kind: 'executed', events: [] });
});

test("the result of another process under the same sequence is nobody's, before and after the send has ended", async () => {
  const { runner, waiters, sends } = openRunner(1_000);
  const outcome = runner.run(0, merge(1));
  await turn();
  waiters.settle(1, execution(100, [refusal(1)]));
  waiters.settle(0, { ...execution(100, [refusal(2)]), inOffset: 6 });
  sends[0]?.end();
  await turn();
  waiters.settle(0, { ...execution(100, [refusal(2)]), inOffset: 8 });
  expect(waiters.count).toBe(1);
  waiters.settle(0, execution(100, [refusal(1)]));
  expect(await outcome).toMatchObject({ place: { inOffset: 7 }, events: [{ event: refusal(1) }] });
});

test('a send that certainly failed is unsent; one of unknown outcome is waited for', async () => {
  for (const [code, kind, as] of [
    ['queue_full', 'unsent', 'overloaded'],
    ['not_sent', 'unsent', 'internal_error'],
    ['send_outcome_unknown', 'pending', undefined],
  ] as const) {
    const { runner, waiters, sends } = openRunner();
    const outcome = runner.run(0, tick(1));
    await turn();
    sends[0]?.end(new Fault(code, 'retry'));
    expect(await outcome).toEqual(as === undefined ? { kind } : { kind, code: as });
    expect(waiters.count).toBe(0);
  }
});

test('a rejected record settles all that wait for its commands', async () => {
  const { runner, waiters, sends } = openRunner();
  const outcomes = Promise.all([runner.run(0, tick(1)), runner.run(0, tick(2))]);
  await turn();
  sends[0]?.end();
  await turn();
  waiters.settle(0, execution(100, [{ kind: 'RecordRejected', reason: 'UNKNOWN_KEY' }]));
  expect(await outcomes).toEqual([{ kind: 'rejected' }, { kind: 'rejected' }]);
});

test('commands of an outrun envelope go again under a later sequence, a few times', async () => {
  const { runner, waiters, sends } = openRunner(1_000);
  const outrun = [{ kind: 'RecordRejected', reason: 'OLD_SEQUENCE' }] as const;
  const outcomes = Promise.all([runner.run(0, tick(1)), runner.run(1, tick(2))]);
  await turn();
  for (const send of sends.slice()) send.end();
  await turn();
  waiters.settle(0, execution(100, outrun));
  waiters.settle(1, execution(101, []));
  await turn();
  expect(sends.map(({ sealed }) => [sealed.sequence, sealed.commands])).toEqual([
    [100, [tick(1)]],
    [101, [tick(2)]],
    [102, [tick(1)]],
  ]);
  for (let sequence = 102; sequence <= 106; sequence += 1) {
    sends.at(-1)?.end();
    await turn();
    waiters.settle(0, execution(sequence, outrun));
    await turn();
  }
  expect(await outcomes).toMatchObject([{ kind: 'rejected' }, { kind: 'executed' }]);
  expect(waiters.count).toBe(0);
});

test('a command for a partition that is not opened is refused before anything is sent', async () => {
  const { runner, waiters, sends } = openRunner();
  expect(await runner.run(2, tick(1))).toEqual({ kind: 'unsent', code: 'partition_not_ready' });
  await turn();
  expect([sends, waiters.count]).toEqual([[], 0]);
});

describe('a channel', () => {
  function openChannel() {
    const foreign: number[] = [];
    const nowMs = { value: 64 * 10 };
    const channel = openCommandChannel({
      key: openSignOffKey(Buffer.alloc(32, 1)),
      codec: openRecordCodec(topics.orders.value, 1, async () => null),
      producer: { send: async () => [] },
      topic: 'orders',
      partitions: { has: (partition) => partition < 4 },
      nowMs: () => nowMs.value,
      waitMs: 10,
      onForeign: () => foreign.push(nowMs.value),
      runsAhead: 0,
    });
    const take = (sequence: number, events: readonly ExecutionEvent[] = [], partition = 0) =>
      channel.take(partition, { sequence, events, inOffset: 1 } as unknown as Execution);
    return { channel, nowMs, foreign, take };
  }

  const run = (number: number) => number * sequencesPerRun;

  test('numbers its envelopes in a run of its own, whatever other processes send under its key', () => {
    const { channel, foreign, take } = openChannel();
    expect(channel.envelopes.add(0, tick(1))?.sequence).toBe(run(10));
    take(run(9) + 7);
    take(run(10));
    take(run(11) + 3);
    take(run(10) + 5, [{ kind: 'RecordRejected', reason: 'BAD_SIGNATURE' }]);
    expect(channel.envelopes.add(1, tick(1))?.sequence).toBe(run(10) + 1);
    expect(foreign).toEqual([]);
  });

  test('leaves a run in which another process has sent under its sequence to another partition', () => {
    const { channel, foreign, nowMs, take } = openChannel();
    channel.envelopes.add(1, tick(1));
    nowMs.value = 64 * 12;
    take(run(10));
    expect(foreign).toHaveLength(1);
    expect(channel.envelopes.add(2, tick(1))?.sequence).toBe(run(12));
  });

  test('begins another run where another process uses the same, and where its envelope came too late', () => {
    const { channel, foreign, nowMs, take } = openChannel();
    channel.envelopes.add(0, tick(1));
    nowMs.value = 64 * 12;
    take(run(10) + 1);
    expect(foreign).toHaveLength(1);
    expect(channel.envelopes.add(1, tick(1))?.sequence).toBe(run(12));
    nowMs.value = 64 * 14;
    void channel.commands.run(2, tick(1));
    take(run(12), [{ kind: 'RecordRejected', reason: 'OLD_SEQUENCE' }]);
    take(run(12) + 1, [{ kind: 'RecordRejected', reason: 'OLD_SEQUENCE' }], 2);
    expect(channel.envelopes.add(3, tick(1))?.sequence).toBe(run(14));
  });
});
