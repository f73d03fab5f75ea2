import type { OpenedPartitions } from '@pm/domain/signoff/first-envelope.io';
import { silentLog } from '@pm/kit/log';
import { PartitionWatch } from '../../src/status/partition-watch.io.ts';

/** A broker that answers each question when it is let. */
class Broker {
  asked = 0;
  answer: () => Promise<number> = async () => 7;

  watch(askEveryMs: number, opened?: OpenedPartitions): PartitionWatch {
    const bounds = async () => {
      this.asked += 1;
      return new Map([[0, { low: 0, high: await this.answer() }]]);
    };
    const none = async () => new Map();
    const admin = { bounds, groupMembers: none, commits: none, close: async () => {} };
    const counts = { of: () => null, isLive: () => false };
    const client = { admin: async () => admin };
    return new PartitionWatch({
      client,
      topic: 't',
      group: 'g',
      counts,
      log: silentLog,
      askEveryMs,
      ...(opened && { opened }),
    });
  }
}

const inputOf = async (watch: PartitionWatch) => (await watch.facts()).inputs.get(0);

test('the broker is asked when a caller wants the facts, once for all that want them at a time', async () => {
  const broker = new Broker();
  const watch = broker.watch(60_000);
  expect(broker.asked).toBe(0);
  expect(await Promise.all([inputOf(watch), inputOf(watch)])).toEqual([7, 7]);
  broker.answer = async () => 8;
  expect(await inputOf(watch)).toBe(7);
  expect(broker.asked).toBe(1);
  await watch.close();
});

test('what is known stays while the broker is away, and only the first caller waits for it', async () => {
  const broker = new Broker();
  const watch = broker.watch(0);
  expect(await inputOf(watch)).toBe(7);
  broker.answer = () => Promise.reject(new Error('away'));
  expect(await inputOf(watch)).toBe(7);
  let answerNow = (_input: number): void => {};
  broker.answer = () =>
    new Promise((resolve) => {
      answerNow = resolve;
    });
  expect(await inputOf(watch)).toBe(7);
  expect(broker.asked).toBe(3);
  answerNow(9);
  await new Promise(setImmediate);
  broker.answer = async () => 9;
  expect(await inputOf(watch)).toBe(9);
  await watch.close();
});

test('nothing is asked after the end', async () => {
  const broker = new Broker();
  const watch = broker.watch(0);
  await watch.close();
  expect(await inputOf(watch)).toBeUndefined();
  expect(broker.asked).toBe(0);
});

test('a partition that is not opened is not shown', async () => {
  const shown = async (openedPartitions: readonly number[]) => {
    const watch = new Broker().watch(0, { openedPartitions });
    const { inputs } = await watch.facts();
    await watch.close();
    return [...inputs.keys()];
  };
  expect([await shown([]), await shown([0])]).toEqual([[], [0]]);
});
