import { defaultLimits } from '../../src/kafka/limits.ts';
import { seeded } from '../seeded.ts';
import { MovingLeaders, readAll } from './moving-leaders.ts';

const { leaderCheckMs, stallMs } = defaultLimits;

beforeEach(() => jest.useFakeTimers());

afterEach(() => jest.useRealTimers());

const pass = (ms: number) => jest.advanceTimersByTimeAsync(ms);

function numbers(end: number): number[] {
  return Array.from({ length: end }, (_, offset) => offset);
}

test('a leader that is learnt during a fetch is asked when that fetch has been answered', async () => {
  const brokers = new MovingLeaders(['a']);
  const { loops, read } = readAll(brokers);
  brokers.cutOff.set('a', [0]);
  brokers.onAwait = () => {
    // As by the look of a request that was silent and then answered after all.
    if (brokers.fetches.get('a') === 2) brokers.truth[0] = 'b';
    brokers.learn();
  };
  await pass(600);
  brokers.ends[0] = 5;
  const looks = brokers.looks;
  await pass(300);
  expect(read[0].seen).toEqual(numbers(5));
  expect(looks).toBe(0);
  await Promise.all([loops.close(), pass(1_000)]);
});

test('a leader that is learnt by a look that nobody awaits is asked at once', async () => {
  const brokers = new MovingLeaders(['a', 'a']);
  const { loops, read } = readAll(brokers);
  brokers.onLeaders = () => loops.refresh();
  await pass(50);
  brokers.truth[1] = 'b';
  brokers.ends[1] = 5;
  brokers.learn();
  brokers.onLeaders();
  await pass(20);
  expect(read[1].seen).toEqual(numbers(5));
  await Promise.all([loops.close(), pass(1_000)]);
});

test('a former leader that answers with nothing new is left, and what it answered is not fresh', async () => {
  const brokers = new MovingLeaders(['a']);
  const { loops, read } = readAll(brokers);
  await pass(200);
  const [{ lane, seen }] = read;
  expect(performance.now() - lane.readThroughMs).toBeLessThan(300);
  brokers.cutOff.set('a', [0]);
  brokers.truth[0] = 'b';
  brokers.ends[0] = 5;
  await pass(leaderCheckMs + 300);
  expect(seen).toEqual(numbers(5));
  await Promise.all([loops.close(), pass(1_000)]);
});

test('a lone broker is asked who leads at one of five looks, and at each while a partition has no leader', async () => {
  const brokers = new MovingLeaders(['a']);
  brokers.isAlone = true;
  const { loops, read } = readAll(brokers);
  await pass(leaderCheckMs * 5 + 300);
  expect(brokers.looks).toBe(1);
  brokers.truth[0] = null;
  brokers.learn();
  brokers.onLeaders();
  await pass(1_000);
  expect(brokers.looks).toBeGreaterThan(3);
  brokers.truth[0] = 'a';
  brokers.ends[0] = 5;
  await pass(500);
  expect(read[0].seen).toEqual(numbers(5));
  await Promise.all([loops.close(), pass(1_000)]);
});

test('what a broker answers that leads no more is read, and is no progress', async () => {
  const brokers = new MovingLeaders(['a']);
  brokers.ends[0] = 3;
  brokers.latencyMs = () => 400;
  const { loops, read } = readAll(brokers);
  await pass(10);
  brokers.cutOff.set('a', [3]);
  brokers.truth[0] = 'b';
  brokers.learn();
  await pass(1_000);
  const [{ lane, seen }] = read;
  expect(seen).toEqual(numbers(3));
  expect([lane.answeredMs, lane.readThroughMs]).toEqual([-Infinity, -Infinity]);
  await pass(1_500);
  expect(performance.now() - lane.answeredMs).toBeLessThan(1_000);
  await Promise.all([loops.close(), pass(2_000)]);
});

test('a cut-off broker that is named as the leader again and has less than was read ends no reader', async () => {
  const brokers = new MovingLeaders(['b']);
  brokers.ends[0] = 5;
  const { loops, read } = readAll(brokers);
  await pass(200);
  const [{ lane, seen, faults }] = read;
  expect(seen).toEqual(numbers(5));
  brokers.cutOff.set('a', [2]);
  for (let times = 0; times < 5; times += 1) {
    brokers.truth[0] = 'a';
    brokers.learn();
    loops.refresh();
    await pass(900);
    brokers.truth[0] = 'b';
    brokers.learn();
    loops.refresh();
    await pass(900);
  }
  expect(faults).toEqual([]);
  expect(lane.open).toBe(true);
  await Promise.all([loops.close(), pass(1_000)]);
});

test('a log that really ends before the position ends its reader', async () => {
  const brokers = new MovingLeaders(['b']);
  brokers.ends[0] = 5;
  const { loops, read } = readAll(brokers);
  await pass(200);
  brokers.ends[0] = 2;
  await pass(4_000);
  expect(read[0].faults).toEqual(['offset_out_of_range']);
  await Promise.all([loops.close(), pass(1_000)]);
});

test('a partition that always fails is reported, its neighbours are read and are not', async () => {
  const brokers = new MovingLeaders(Array.from({ length: 40 }, () => 'a'));
  brokers.broken.add(7);
  const { loops, read } = readAll(brokers);
  for (let at = 0; at < 20; at += 1) {
    brokers.ends.fill(at * 3);
    await pass(500);
  }
  const stalled = read.flatMap(({ stalls }, partition) => stalls.map(() => partition));
  expect(stalled).toEqual([7]);
  expect(read.filter(({ seen }) => seen.length > 50)).toHaveLength(39);
  expect(brokers.renewed).toEqual([]);
  brokers.broken.clear();
  await pass(1_000);
  expect(read.map(({ seen }) => seen.length)).toEqual(brokers.ends);
  await Promise.all([loops.close(), pass(1_000)]);
});

test('brokers that each name the other as the leader are a stall of their partitions', async () => {
  const brokers = new MovingLeaders(['a', 'c']);
  brokers.broken.add(0);
  brokers.onAwait = () => {
    brokers.truth[0] = brokers.truth[0] === 'a' ? 'b' : 'a';
  };
  const { loops, read } = readAll(brokers);
  await pass(stallMs + 1_500);
  expect(read.map(({ stalls }) => stalls.length)).toEqual([1, 0]);
  await Promise.all([loops.close(), pass(1_000)]);
});

test('a broker that answers nothing is connected again before the limit, and then read on', async () => {
  const brokers = new MovingLeaders(['a', 'c']);
  const { loops, read } = readAll(brokers);
  await pass(500);
  brokers.silent.add('a');
  setTimeout(() => brokers.silent.delete('a'), 1_000);
  brokers.ends.fill(5);
  await pass(stallMs);
  expect(brokers.renewed).toEqual(['a']);
  expect(read.map(({ seen }) => seen.length)).toEqual([5, 5]);
  expect(read.map(({ stalls }) => stalls.length)).toEqual([0, 0]);
  await Promise.all([loops.close(), pass(1_000)]);
});

test('a partition without a leader is a stall, and looked for more often', async () => {
  const brokers = new MovingLeaders(['a', 'c']);
  const { loops, read } = readAll(brokers);
  await pass(500);
  brokers.truth[0] = null;
  brokers.learn();
  loops.refresh();
  const looks = brokers.looks;
  await pass(stallMs + 1_500);
  expect(brokers.looks - looks).toBeGreaterThan(15);
  expect(read.map(({ stalls }) => stalls.map(({ node }) => node))).toEqual([[null], []]);
  brokers.truth[0] = 'b';
  brokers.ends[0] = 4;
  await pass(400);
  expect(read[0].seen).toEqual(numbers(4));
  await Promise.all([loops.close(), pass(1_000)]);
});

test('a lane that is not fetched, because its handler is slow, shows its lag, and is no stall', async () => {
  const brokers = new MovingLeaders(['a', 'a']);
  brokers.ends[0] = 100;
  const { loops, read } = readAll(brokers, () => new Promise(() => {}));
  await pass(500);
  brokers.ends[0] = 5_000;
  await pass(leaderCheckMs * 2 + 200);
  expect(read[0].lane.lagRecords).toBe(5_000);
  await pass(stallMs * 2);
  expect(read.flatMap(({ stalls }) => stalls)).toEqual([]);
  expect(brokers.endsAsked.every((places) => places.length === 1)).toBe(true);
  await Promise.all([loops.close(), pass(1_000)]);
});

test('while all is well, no end is asked for', async () => {
  const brokers = new MovingLeaders(['a', 'b']);
  const { loops } = readAll(brokers);
  await pass(10_000);
  expect(brokers.endsAsked).toEqual([]);
  expect(brokers.looks).toBeLessThan(12);
  await Promise.all([loops.close(), pass(1_000)]);
});

/** Leaders move at any await, brokers are cut off, slow or silent for a while, and partitions lose their leader. */
function disturb(brokers: MovingLeaders, random: (below: number) => number): void {
  const nodes = ['a', 'b', 'c'];
  const node = () => nodes[random(3)] ?? 'a';
  const partition = random(brokers.truth.length);
  const kind = random(40);
  if (kind < 6) brokers.truth[partition] = random(8) === 0 ? null : node();
  if (kind < 3) brokers.learn();
  if (kind === 7) brokers.cutOff.set(node(), [...brokers.ends]);
  if (kind === 8) brokers.cutOff.delete(node());
  if (kind === 9) brokers.silent.add(node());
  if (kind === 10 || kind === 11) brokers.silent.delete(node());
  if (kind === 12) brokers.broken.add(partition);
  if (kind === 13 || kind === 14) brokers.broken.delete(partition);
  brokers.ends[partition] = (brokers.ends[partition] ?? 0) + random(4);
}

test.each(numbers(60))(
  'every record is read within seconds when the brokers are calm, seed %i',
  async (seed) => {
    const random = seeded(seed);
    const brokers = new MovingLeaders(['a', 'a', 'b', 'c']);
    const { loops, read } = readAll(brokers, () => new Promise((go) => setTimeout(go, random(20))));
    const notifies = random(2) === 0;
    brokers.onLeaders = () => (notifies ? loops.refresh() : undefined);
    brokers.latencyMs = () => (random(20) === 0 ? random(900) : random(10));
    brokers.onAwait = () => disturb(brokers, random);
    await pass(3_000 + random(4_000));
    brokers.onAwait = () => {};
    for (const set of [brokers.cutOff, brokers.silent, brokers.broken]) set.clear();
    for (const [partition, leader] of brokers.truth.entries())
      brokers.truth[partition] = leader ?? 'c';
    const calmMs = performance.now();
    await pass(stallMs);
    for (const [partition, { lane, seen, faults }] of read.entries()) {
      expect({ partition, seen, faults }).toEqual({
        partition,
        seen: numbers(brokers.ends[partition] ?? 0),
        faults: [],
      });
      expect([lane.lagRecords, lane.answeredMs > calmMs]).toEqual([0, true]);
    }
    brokers.dropRequests();
    await Promise.all([loops.close(), pass(3_000)]);
  },
);
