import { Watchdog } from '../../src/kafka/watchdog.ts';

/** A lane whose answers and room a test sets. */
class FakeLane {
  readonly name: string;
  open = true;
  isFull = false;
  answeredMs = Number.NEGATIVE_INFINITY;

  constructor(name: string) {
    this.name = name;
  }

  hasRoom(): boolean {
    return !this.isFull;
  }
}

function watch(...names: readonly string[]) {
  let now = 0;
  const dog = new Watchdog(1_000, () => now);
  const lanes = names.map((name) => new FakeLane(name));
  const late = new Set<string>();
  return {
    lanes: lanes as [FakeLane, FakeLane],
    late,
    /** Time passes with regular checks, before each of which these are answered; gives the lanes that stalled. */
    pass: (ms: number, answered: readonly FakeLane[] = []) => {
      const stalled: string[] = [];
      for (const end = now + ms; now < end; ) {
        now += 100;
        for (const lane of answered) lane.answeredMs = now;
        const found = dog.check(lanes);
        for (const lane of found.late) late.add(lane.name);
        stalled.push(...found.stalled.map(({ lane }) => lane.name));
      }
      return stalled;
    },
    sleep: (ms: number) => {
      now += ms;
    },
  };
}

test('reports a silence once, and again only after an answer', () => {
  const { lanes, pass } = watch('0');
  expect(pass(5_000)).toEqual(['0']);
  expect(pass(100, [lanes[0]])).toEqual([]);
  expect(pass(5_000)).toEqual(['0']);
});

test('a silent partition is reported although its neighbours are answered', () => {
  const { lanes, pass, late } = watch('0', '1');
  expect(pass(3_000, [lanes[1]])).toEqual(['0']);
  expect([...late]).toEqual(['0']);
});

test('an answer without records is progress', () => {
  const { lanes, pass, late } = watch('0');
  expect(pass(3_000, [lanes[0]])).toEqual([]);
  expect([...late]).toEqual([]);
});

test('a lane is late after half of the limit', () => {
  const { pass, late } = watch('0');
  expect(pass(500)).toEqual([]);
  expect([...late]).toEqual([]);
  expect(pass(200)).toEqual([]);
  expect([...late]).toEqual(['0']);
});

test('a lane that is full waits for its handler, and its time begins when it has room again', () => {
  const { lanes, pass } = watch('0');
  lanes[0].isFull = true;
  expect(pass(10_000)).toEqual([]);
  lanes[0].isFull = false;
  expect(pass(1_000)).toEqual([]);
  expect(pass(200)).toEqual(['0']);
});

test('a lane that was closed is not reported', () => {
  const { lanes, pass } = watch('0');
  lanes[0].open = false;
  expect(pass(3_000)).toEqual([]);
});

test('a process that slept gets the whole limit once more', () => {
  const { pass, sleep } = watch('0');
  expect(pass(900)).toEqual([]);
  sleep(60_000);
  expect(pass(1_000)).toEqual([]);
  expect(pass(200)).toEqual(['0']);
});
