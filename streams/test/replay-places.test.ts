import { Random } from '@pm/kit/random';
import { streamLimits } from '@pm/schemas/streams/limits';
import { type Replayer, ReplayPlaces } from '../src/protocol/replay-places.ts';

const { resumes_per_connection: ofConnection, resumes_per_address: ofAddress } = streamLimits;

test('a connection and an address have so many places, and do not hold up others', () => {
  const places = new ReplayPlaces(64);
  const started: string[] = [];
  const greedy = Array.from({ length: 10 }, (): Replayer => ({ address: 'a' }));
  const leaves = greedy.flatMap((who) =>
    Array.from({ length: 10 }, () => places.take(who, () => started.push('a'))),
  );
  expect(started).toHaveLength(ofAddress);
  const other: Replayer = { address: 'b' };
  for (let count = 0; count < 10; count += 1) places.take(other, () => started.push('b'));
  expect(started.filter((one) => one === 'b')).toHaveLength(ofConnection);
  for (const leave of leaves) leave();
  expect([places.taken, places.waiting]).toEqual([ofConnection, 10 - ofConnection]);
});

test.each([1, 2, 3])('every limit holds at any time, and every wait ends (seed %d)', (seed) => {
  const random = new Random(seed);
  const max = 20;
  const places = new ReplayPlaces(max);
  const running: { readonly who: Replayer; readonly leave: () => void }[] = [];
  // Ten connections of one address would have more places than it may.
  const replayers = Array.from({ length: 12 }, (_, at): Replayer => ({ address: `${at % 6 > 0}` }));
  let asked = 0;
  let begun = 0;
  const broken: number[] = [];
  for (let step = 0; step < 3_000; step += 1) {
    if (random.chance(0.5)) {
      const who = random.pick(replayers);
      asked += 1;
      places.take(who, (leave) => {
        begun += 1;
        running.push({ who, leave });
      });
    } else running.splice(random.below(Math.max(1, running.length)), 1)[0]?.leave();
    const hold = replayers.every((who) => {
      const own = running.filter((one) => one.who === who).length;
      const near = running.filter((one) => one.who.address === who.address).length;
      return own <= ofConnection && near <= ofAddress;
    });
    if (!hold || places.taken !== running.length || running.length > max) broken.push(step);
  }
  expect(broken).toEqual([]);
  while (running.length > 0) running.shift()?.leave();
  expect([begun, places.taken, places.waiting]).toEqual([asked, 0, 0]);
});
