import { NewestRecords } from '../../src/kafka/newest-records.io.ts';

/** A topic of one partition, of which a reader takes a record at each hurry. */
class FakeTopic {
  high = 0;
  taken = 0;
  looks = 0;
  isAway = false;
  /** Promise that a look waits for. */
  answer: Promise<void> = Promise.resolve();
  readonly admin = {
    bounds: async () => {
      this.looks += 1;
      await this.answer;
      if (this.isAway) throw new Error('away');
      return new Map([[0, { low: 0, high: this.high }]]);
    },
  };
  readonly reader = {
    position: () => this.taken,
    hurry: () => {
      this.taken = Math.min(this.high, this.taken + 1);
    },
  };

  newest(): NewestRecords {
    return new NewestRecords(this.admin, [{ topic: 't', reader: this.reader }]);
  }
}

test('a call waits for what was in the topic when it came', async () => {
  const topic = new FakeTopic();
  const newest = topic.newest();
  await newest.settle();
  topic.high = 3;
  expect(await newest.settle()).toBe(true);
  expect(topic.taken).toBe(3);
});

test('calls at the same time share one look, and one that comes during it gets the next', async () => {
  const topic = new FakeTopic();
  const newest = topic.newest();
  let open: () => void = () => {};
  topic.answer = new Promise((resolve) => {
    open = resolve;
  });
  const first = [newest.settle(), newest.settle(), newest.settle()];
  await new Promise((resolve) => setTimeout(resolve, 5));
  expect(topic.looks).toBe(1);
  const later = Array.from({ length: 100 }, () => newest.settle());
  open();
  await Promise.all([...first, ...later]);
  expect(topic.looks).toBe(2);
});

test('a flood of calls one after the other makes few looks', async () => {
  const topic = new FakeTopic();
  const newest = topic.newest();
  const startedMs = performance.now();
  for (let calls = 0; calls < 10; calls += 1) await newest.settle();
  // 20 ms between two looks.
  expect(performance.now() - startedMs).toBeGreaterThan(170);
});

test('a log that is away ends no call, and a reader that is late delays one for a second at most', async () => {
  const topic = new FakeTopic();
  topic.isAway = true;
  expect(await topic.newest().settle()).toBe(false);
  const stuck = { position: () => 0, hurry: () => {} };
  const { admin } = topic;
  topic.isAway = false;
  topic.high = 1;
  const startedMs = performance.now();
  expect(await new NewestRecords(admin, [{ topic: 't', reader: stuck }]).settle()).toBe(false);
  expect(performance.now() - startedMs).toBeLessThan(3_000);
});

test('a topic whose end is not known keeps nobody from the newest records of another', async () => {
  const topic = new FakeTopic();
  topic.high = 3;
  const bounds = async (name: string) => {
    if (name === 'away') throw new Error('away');
    return topic.admin.bounds();
  };
  const away = { topic: 'away', reader: { position: () => 0, hurry: () => {} } };
  const newest = new NewestRecords({ bounds }, [away, { topic: 't', reader: topic.reader }]);
  expect(await newest.settle()).toBe(false);
  expect(topic.taken).toBe(3);
});
