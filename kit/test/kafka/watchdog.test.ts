import { Watchdog } from '../../src/kafka/watchdog.ts';

function watch() {
  let now = 0;
  const dog = new Watchdog(1_000, () => now);
  return {
    dog,
    /** Time passes with regular checks; gives the keys that stalled. */
    pass: (ms: number, each: () => void = () => {}) => {
      const stalled: string[] = [];
      for (const end = now + ms; now < end; ) {
        now += 100;
        each();
        stalled.push(...dog.newlyStalled().map(({ key }) => key));
      }
      return stalled;
    },
    sleep: (ms: number) => {
      now += ms;
    },
  };
}

test('reports a silence once, and again only after progress', () => {
  const { dog, pass } = watch();
  dog.progress('1');
  expect(pass(5_000)).toEqual(['1']);
  dog.progress('1');
  expect(pass(5_000)).toEqual(['1']);
});

test('one silent broker is reported although the others make progress', () => {
  const { dog, pass } = watch();
  dog.progress('1');
  dog.progress('2');
  expect(pass(3_000, () => dog.progress('2'))).toEqual(['1']);
});

test('progress without records, or an end on purpose, is no stall', () => {
  const { dog, pass } = watch();
  expect(pass(3_000, () => dog.progress('1'))).toEqual([]);
  dog.forget('1');
  expect(pass(3_000)).toEqual([]);
});

test('a process that slept gets one more period', () => {
  const { dog, pass, sleep } = watch();
  dog.progress('1');
  sleep(60_000);
  expect(dog.newlyStalled()).toEqual([]);
  dog.progress('1');
  expect(pass(900)).toEqual([]);
});
