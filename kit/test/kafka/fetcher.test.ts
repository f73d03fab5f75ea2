import { Fetcher } from '../../src/kafka/fetcher.io.ts';
import { openKafkajs } from '../../src/kafka/kafkajs-connection.io.ts';
import { defaultLimits } from '../../src/kafka/limits.ts';
import { pause } from '../../src/kafka/waiting.io.ts';
import { silentLog } from '../../src/log/index.ts';
import { ScriptedBrokers } from './scripted-brokers.ts';

interface Fetching {
  readonly scripted: ScriptedBrokers;
  readonly fetcher: Fetcher;
}

/** A test with brokers of its own: most of them wait for limits of time, so they run at the same time. */
function fetching(title: string, run: (parts: Fetching) => Promise<void>): void {
  test.concurrent(title, async () => {
    const scripted = await ScriptedBrokers.open([1, 2, 3]);
    scripted.topic('t', [1, 2]);
    const options = { brokers: scripted.addresses, clientId: 'test', log: silentLog };
    const kafka = openKafkajs(options, defaultLimits);
    const fetcher = new Fetcher(kafka, defaultLimits, {
      maxWaitMs: 100,
      restMs: 0,
      log: silentLog,
    });
    try {
      await fetcher.connect();
      await fetcher.follow('t');
      await run({ scripted, fetcher });
    } finally {
      await fetcher.close();
      await scripted.close();
    }
  });
}

fetching(
  'a leader that is cut off does not say that a record which another has is beyond the end',
  async ({ scripted, fetcher }) => {
    const { values } = scripted.partition('t', 0);
    values.push('0', '1');
    scripted.cutOff(1);
    scripted.partition('t', 0).leader = 2;
    values.push('2', '3', '4');
    for (let times = 0; times < 5; times += 1)
      expect(await fetcher.bounds('t', new Map([[0, 5]]))).toEqual(
        new Map([[0, { low: 0, high: 5 }]]),
      );
  },
);

fetching(
  'a leader that learns of its successor after seconds does not say so either',
  async ({ scripted, fetcher }) => {
    const { values } = scripted.partition('t', 0);
    values.push('0', '1');
    const nodes = [1, 2, 3];
    for (const node of nodes) scripted.cutOff(node);
    scripted.partition('t', 0).leader = 2;
    values.push('2', '3', '4');
    const asking = fetcher.bounds('t', new Map([[0, 5]]));
    await pause(1_000);
    for (const node of nodes) scripted.reconnect(node);
    expect(await asking).toEqual(new Map([[0, { low: 0, high: 5 }]]));
  },
);

fetching('a position that no broker has is beyond the end', async ({ scripted, fetcher }) => {
  scripted.partition('t', 0).values.push('0');
  const bounds = await fetcher.bounds('t', new Map([[0, 9]]));
  expect(bounds).toEqual(new Map([[0, { low: 0, high: 1 }]]));
});

fetching(
  'the ends of several partitions are those of their leaders',
  async ({ scripted, fetcher }) => {
    scripted.partition('t', 0).values.push('0');
    scripted.partition('t', 1).values.push('0', '1');
    const asked = new Map([
      [0, 0],
      [1, 0],
    ]);
    expect(await fetcher.bounds('t', asked)).toEqual(
      new Map([
        [0, { low: 0, high: 1 }],
        [1, { low: 0, high: 2 }],
      ]),
    );
  },
);
