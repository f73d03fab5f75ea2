import { openSignOffKey } from '@pm/domain/signoff/keys';
import { Fault } from '@pm/kit/fault';
import type { OutgoingRecord } from '@pm/kit/kafka';
import { openRecordCodec } from '@pm/kit/registry';
import {
  type Command,
  type Execution,
  type ExecutionEvent,
  sequencesPerRun,
  topics,
} from '@pm/schemas';
import { CommandSender, openCommandChannel } from '../../src/log/command-channel.io.ts';
import { commandsQueueMax, EnvelopeSender } from '../../src/log/envelope-sender.io.ts';
import { ResultWaiters } from '../../src/log/result-waiters.ts';

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
    partitions: 2,
    nextSequence: () => sequence++,
    seal: (envelope) => {
      last = envelope;
      return Buffer.from('sealed');
    },
    producer: {
      send: (records: readonly OutgoingRecord[]) =>
        new Promise((resolve, reject) => {
          if (last === null) throw new Error('sealed before sent');
          const places = records.map(({ partition }) => ({ partition, offset: 0 }));
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
  await expect(first?.sent).resolves.toBeUndefined();
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
  await expect(next?.sent).resolves.toBeUndefined();
  expect(sink.queued(0)).toBe(0);
});

function openRunner(waitMs = 50) {
  const { sink, sends } = openSink();
  const waiters = new ResultWaiters();
  return { sends, waiters, runner: new CommandSender({ envelopes: sink, waiters, waitMs }) };
}

const execution = (sequence: number, events: readonly ExecutionEvent[]) => ({
  sequence,
  inOffset: 7,
  events,
});

test('a command gets the events of its own index, with their place in the record', async () => {
  const { runner, waiters } = openRunner();
  const outcomes = Promise.all([runner.run(0, tick(1)), runner.run(0, tick(2))]);
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

test('a result counts even when it comes before the send has ended', async () => {
  const { runner, waiters, sends } = openRunner();
  const outcome = runner.run(0, tick(1));
  await turn();
  waiters.settle(0, execution(100, []));
  expect(await outcome).toMatchObject({ kind: 'executed' });
  sends[0]?.end(new Fault('not_sent', 'retry'));
  await turn();
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
  const { runner, waiters } = openRunner();
  const outcomes = Promise.all([runner.run(0, tick(1)), runner.run(0, tick(2))]);
  await turn();
  waiters.settle(0, execution(100, [{ kind: 'RecordRejected', reason: 'UNKNOWN_KEY' }]));
  expect(await outcomes).toEqual([{ kind: 'rejected' }, { kind: 'rejected' }]);
});

test('commands of an outrun envelope go again under a later sequence, a few times', async () => {
  const { runner, waiters, sends } = openRunner(1_000);
  const outrun = [{ kind: 'RecordRejected', reason: 'OLD_SEQUENCE' }] as const;
  const outcomes = Promise.all([runner.run(0, tick(1)), runner.run(1, tick(2))]);
  await turn();
  waiters.settle(0, execution(100, outrun));
  waiters.settle(1, execution(101, []));
  sends[0]?.end();
  await turn();
  expect(sends.map(({ sealed }) => [sealed.sequence, sealed.commands])).toEqual([
    [100, [tick(1)]],
    [101, [tick(2)]],
    [102, [tick(1)]],
  ]);
  for (let sequence = 102; sequence <= 106; sequence += 1) {
    waiters.settle(0, execution(sequence, outrun));
    sends.at(-1)?.end();
    await turn();
  }
  expect(await outcomes).toMatchObject([{ kind: 'rejected' }, { kind: 'executed' }]);
  expect(waiters.count).toBe(0);
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
      partitions: 4,
      nowMs: () => nowMs.value,
      waitMs: 10,
      onForeign: () => foreign.push(nowMs.value),
      runsAhead: 0,
    });
    const take = (sequence: number, events: readonly ExecutionEvent[] = []) =>
      channel.take(0, { sequence, events, inOffset: 1 } as unknown as Execution);
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

  test('begins another run where another process uses the same, and where its envelope came too late', () => {
    const { channel, foreign, nowMs, take } = openChannel();
    channel.envelopes.add(0, tick(1));
    nowMs.value = 64 * 12;
    take(run(10) + 1);
    expect(foreign).toHaveLength(1);
    expect(channel.envelopes.add(1, tick(1))?.sequence).toBe(run(12));
    nowMs.value = 64 * 14;
    void channel.commands.run(2, tick(1));
    take(run(12) + 1, [{ kind: 'RecordRejected', reason: 'OLD_SEQUENCE' }]);
    take(run(12), [{ kind: 'RecordRejected', reason: 'OLD_SEQUENCE' }]);
    expect(channel.envelopes.add(3, tick(1))?.sequence).toBe(run(14));
  });
});
