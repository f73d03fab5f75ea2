import { verifierFor } from '@pm/domain/signoff/keys';
import { verifySealed } from '@pm/domain/signoff/records';
import type { LogProducer, RecordPlace } from '@pm/kit/kafka';
import { silentLog } from '@pm/kit/log';
import { sequencesPerRun } from '@pm/schemas/log/orders';
import { UsedSequences } from '../../src/core/rules/used-sequences.ts';
import { type TickedEngine, TickPublisher } from '../../src/partition/tick-publisher.io.ts';
import { codecs, keys, partition } from './sealed-records.ts';

const ownerEntry = {
  publicKey: keys.owner.publicKey,
  role: 'OWNER',
  active: true,
  used: new UsedSequences(),
} as const;

function engineOf(facts: Partial<TickedEngine> = {}): TickedEngine {
  const engine = {
    opened: true,
    term: 0,
    timeMs: 0,
    witnessMs: 0,
    nextExpiryMs: Number.POSITIVE_INFINITY,
    awaitsTick: false,
    signOffKey: (keyId: Buffer) => (keyId.equals(keys.owner.keyId) ? ownerEntry : null),
    ...facts,
  };
  return engine as TickedEngine;
}

function openTicks() {
  const values: Buffer[] = [];
  const answers: { resolve(places: RecordPlace[]): void; reject(error: unknown): void }[] = [];
  const warnings: string[] = [];
  const now = { wallMs: 0, monotonicMs: 0 };
  const producer: Pick<LogProducer, 'send'> = {
    send: (records) => {
      for (const { value } of records) values.push(value ?? Buffer.alloc(0));
      return new Promise((resolve, reject) => {
        answers.push({ resolve, reject });
      });
    },
  };
  const ticks = new TickPublisher({
    producer,
    codec: codecs.orders,
    key: keys.owner,
    topic: 'orders',
    partition,
    everyMs: 500,
    clock: { nowMs: () => now.wallMs, monotonicMs: () => now.monotonicMs },
    log: { ...silentLog, warn: (_, message) => void warnings.push(message) },
  });
  const times = () =>
    values.map((value) => {
      const [command] = codecs.orders.decode(value).commands;
      return command?.kind === 'Tick' ? command.timeMs : null;
    });
  /** The oldest record that is on its way is stored there; at no known place without one. */
  const answer = async (offset?: number) => {
    answers.shift()?.resolve(offset === undefined ? [] : [{ partition, offset }]);
    await new Promise((resolve) => setImmediate(resolve));
  };
  const at = (nowMs: number) => {
    now.wallMs = nowMs;
    now.monotonicMs = nowMs;
  };
  const publishAt = (nowMs: number, engine = engineOf()) => {
    at(nowMs);
    return ticks.publishDue(engine);
  };
  return { ticks, values, answers, warnings, times, answer, publishAt, at, now };
}

describe('ticks', () => {
  test('are signed by the owner for its partition and numbered', async () => {
    const { values, answer, publishAt } = openTicks();
    void publishAt(1_000);
    await answer();
    void publishAt(2_000);
    const verifier = verifierFor(keys.owner.publicKey);
    const { fingerprint } = codecs.orders;
    expect(values.every((one) => verifySealed(one, verifier, fingerprint))).toBe(true);
    expect(values.map((one) => codecs.orders.decode(one))).toMatchObject([
      { partition, sequence: 15 * sequencesPerRun, keyId: keys.owner.keyId },
      { partition, sequence: 15 * sequencesPerRun + 1, keyId: keys.owner.keyId },
    ]);
  });

  test('go on after those of an owner whose clock was ahead', () => {
    const { values, publishAt } = openTicks();
    const ahead = { ...ownerEntry, used: new UsedSequences(20 * sequencesPerRun + 7) };
    void publishAt(1_000, engineOf({ signOffKey: () => ahead }));
    expect(values.map((one) => codecs.orders.decode(one).sequence)).toEqual([21 * sequencesPerRun]);
  });

  test('begin another run where another process has used the one of this process', async () => {
    const { values, answer, publishAt } = openTicks();
    const own = { ...ownerEntry, used: new UsedSequences() };
    const engine = engineOf({ signOffKey: () => own });
    void publishAt(1_000, engine);
    await answer();
    own.used.add(15 * sequencesPerRun);
    void publishAt(1_500, engine);
    await answer();
    own.used.add(15 * sequencesPerRun + 9);
    void publishAt(2_000, engine);
    const used = values.map((one) => codecs.orders.decode(one).sequence);
    expect(used).toEqual([15, 15 + 1 / sequencesPerRun, 31].map((run) => run * sequencesPerRun));
  });

  test('have the term of the owner', () => {
    const { values, publishAt } = openTicks();
    void publishAt(1_000, engineOf({ term: 7 }));
    const [tick] = values.map((one) => codecs.orders.decode(one).commands[0]);
    expect(tick).toEqual({ kind: 'Tick', timeMs: 1_000, term: 7 });
  });

  test('come once per interval', async () => {
    const { times, answer, publishAt } = openTicks();
    for (const nowMs of [0, 100, 499, 500, 700, 1_000]) {
      void publishAt(nowMs);
      await answer();
    }
    expect(times()).toEqual([0, 500, 1_000]);
  });

  test('of several partitions come together, whenever each was opened', async () => {
    const [early, late] = [openTicks(), openTicks()];
    for (let nowMs = 100; nowMs < 2_000; nowMs += 25) {
      void early.publishAt(nowMs);
      if (nowMs >= 300) void late.publishAt(nowMs);
      await Promise.all([early.answer(), late.answer()]);
    }
    expect(early.times()).toEqual([100, 500, 1_000, 1_500]);
    expect(late.times()).toEqual([300, 500, 1_000, 1_500]);
  });

  test('do not pile up while one is not acknowledged', async () => {
    const { times, answer, publishAt } = openTicks();
    for (const nowMs of [0, 500, 1_000, 1_500]) void publishAt(nowMs);
    expect(times()).toEqual([0]);
    await answer();
    void publishAt(2_000);
    expect(times()).toEqual([0, 2_000]);
  });

  test('come at once when an order expires, once for each expiry', async () => {
    const { times, answer, publishAt } = openTicks();
    const expiring = engineOf({ nextExpiryMs: 120 });
    for (const nowMs of [0, 100, 125, 150, 200]) {
      void publishAt(nowMs, expiring);
      await answer();
    }
    expect(times()).toEqual([0, 125]);
  });

  test('come at once when orders are held for one, one after the other as each is read', async () => {
    const { ticks, times, answer, publishAt } = openTicks();
    const held = engineOf({ awaitsTick: true });
    void publishAt(0);
    await answer(7);
    void publishAt(10, held);
    expect(times()).toEqual([0]);
    ticks.applied({ nextOffset: 8, acceptedAtMs: 0 }, held);
    void publishAt(12, held);
    void publishAt(13, held);
    await answer(9);
    void publishAt(14, held);
    expect(times()).toEqual([0, 12]);
    ticks.applied({ nextOffset: 10, acceptedAtMs: 0 }, held);
    void publishAt(18, held);
    expect(times()).toEqual([0, 12, 18]);
  });

  test.each([
    ['set back by an hour', -3_600_000],
    ['set forth by an hour', 3_600_000],
    ['set back by three seconds', -3_000],
  ])('come at the same pace when the wall clock is %s', async (_, leapMs) => {
    const { ticks, times, answer, now } = openTicks();
    for (let ms = 0; ms <= 20_000; ms += 25) {
      now.monotonicMs = ms;
      now.wallMs = 50_000 + ms + (ms > 10_000 ? leapMs : 0);
      void ticks.publishDue(engineOf({ timeMs: Math.max(50_000, times().at(-1) ?? 0) }));
      await answer();
    }
    expect(times()).toEqual(Array.from({ length: 41 }, (_one, count) => 50_000 + 500 * count));
  });

  test('the next tick replaces a lost one', async () => {
    const { times, answers, warnings, publishAt } = openTicks();
    const beat = publishAt(0);
    answers.shift()?.reject(new Error('lost'));
    await beat;
    expect(warnings).toHaveLength(1);
    void publishAt(500);
    expect(times()).toEqual([0, 500]);
  });

  test.each<[string, Partial<TickedEngine>]>([
    ['before the partition is opened', { opened: false }],
    ['while the owner key is not set', { signOffKey: () => null }],
    ['when the owner key is retired', { signOffKey: () => ({ ...ownerEntry, active: false }) }],
    ['when the key has another role', { signOffKey: () => ({ ...ownerEntry, role: 'INGRESS' }) }],
  ])('are not sent %s', (_, facts) => {
    const { values, warnings, publishAt } = openTicks();
    for (let nowMs = 0; nowMs < 5_000; nowMs += 25) void publishAt(nowMs, engineOf(facts));
    expect(values).toEqual([]);
    expect(warnings.length).toBeLessThanOrEqual(1);
  });
});

describe('a claim', () => {
  const owner = Buffer.alloc(16, 5);

  test('is of the next term, signed and numbered as ticks are', async () => {
    const { ticks, values, publishAt, at } = openTicks();
    at(1_000);
    void ticks.claim(engineOf({ term: 3 }), owner);
    void publishAt(1_000, engineOf({ term: 3 }));
    expect(values.map((one) => codecs.orders.decode(one))).toMatchObject([
      { sequence: 15 * sequencesPerRun, commands: [{ kind: 'ClaimPartition', term: 4, owner }] },
      { sequence: 15 * sequencesPerRun + 1, commands: [{ kind: 'Tick', term: 3 }] },
    ]);
  });

  test('that is lost, or of a key that is not listed, has no offset', async () => {
    const { ticks, values, answers, at } = openTicks();
    at(1_000);
    const lost = ticks.claim(engineOf(), owner);
    answers.shift()?.reject(new Error('lost'));
    expect(await lost).toBeNull();
    expect(await ticks.claim(engineOf({ signOffKey: () => null }), owner)).toBeNull();
    expect(values).toHaveLength(1);
  });
});
