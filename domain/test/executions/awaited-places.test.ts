import { setImmediate as turn } from 'node:timers/promises';
import { AwaitedPlaces } from '../../src/executions/awaited-places.io.ts';

/** A projection that a test moves. */
function projection() {
  const marks = new Map([
    [0, 10],
    [1, 20],
  ]);
  const looks: (readonly number[])[] = [];
  const look = async (partitions: readonly number[]) => {
    looks.push(partitions);
    return new Map(partitions.map((partition) => [partition, marks.get(partition) ?? 0]));
  };
  return { marks, looks, look };
}

const never = 1_000_000;

test('a caller waits until every partition is there, and callers share the looks', async () => {
  const { marks, looks, look } = projection();
  const places = new AwaitedPlaces({ look, waitMs: never, pollMs: 0 });
  const settled: string[] = [];
  const first = places.reach(new Map([[0, 11]])).then((is) => settled.push(`first ${is}`));
  const both = places
    .reach(
      new Map([
        [0, 12],
        [1, 21],
      ]),
    )
    .then((is) => settled.push(`both ${is}`));
  marks.set(0, 12);
  await first;
  expect(settled).toEqual(['first true']);
  marks.set(1, 21);
  await both;
  expect(settled).toEqual(['first true', 'both true']);
  const count = looks.length;
  expect(places.isReached(new Map([[1, 21]]))).toBe(true);
  expect(await places.reach(new Map([[1, 21]]))).toBe(true);
  await turn();
  expect(looks).toHaveLength(count);
});

test('a place that does not come ends the wait with false, also while the store is away', async () => {
  const behind = projection();
  const late = new AwaitedPlaces({ look: behind.look, waitMs: 1, pollMs: 0 });
  expect(await late.reach(new Map([[0, 11]]))).toBe(false);
  const look = () => Promise.reject(new Error('away'));
  const away = new AwaitedPlaces({ look, waitMs: 1, pollMs: 0 });
  expect(await away.reach(new Map([[0, 1]]))).toBe(false);
});

test('a projection that begins again below what was known is waited for again', async () => {
  const { marks, look } = projection();
  const places = new AwaitedPlaces({ look, waitMs: never, pollMs: 0 });
  expect(await places.reach(new Map([[0, 10]]))).toBe(true);
  marks.set(0, 3);
  const later = places.reach(new Map([[0, 11]]));
  while (places.isReached(new Map([[0, 10]]))) await turn();
  marks.set(0, 11);
  expect(await later).toBe(true);
});
