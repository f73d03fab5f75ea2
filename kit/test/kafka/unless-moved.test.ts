import { LeaderMoved } from '../../src/kafka/kafkajs-errors.ts';
import { unlessMoved } from '../../src/kafka/unless-moved.io.ts';

const limits = { leaderLookMs: 10 };

function leaders(movesAtLook: number) {
  const looks = { count: 0 };
  const look = async () => {
    looks.count += 1;
  };
  return { looks, look, hasMoved: () => looks.count >= movesAtLook };
}

const after = <T>(ms: number, value: T) =>
  new Promise<T>((resolve) => setTimeout(() => resolve(value), ms));

test('a request that is answered in time asks no other broker', async () => {
  const { looks, ...moved } = leaders(1);
  expect(await unlessMoved(after(5, 'answer'), { silenceMs: 100, ...moved }, limits)).toBe(
    'answer',
  );
  await after(150, null);
  expect(looks.count).toBe(0);
});

test('a request of a silent broker is given up once another leads, however often that is looked up', async () => {
  const { looks, ...moved } = leaders(3);
  const silent = new Promise<never>(() => {});
  const given = unlessMoved(silent, { silenceMs: 10, ...moved }, limits);
  await expect(given).rejects.toThrow(LeaderMoved);
  expect(looks.count).toBe(3);
});

test('a slow broker that still leads is waited for', async () => {
  const { looks, ...moved } = leaders(Number.POSITIVE_INFINITY);
  expect(await unlessMoved(after(120, 'late'), { silenceMs: 10, ...moved }, limits)).toBe('late');
  expect(looks.count).toBeGreaterThan(1);
});

test('a look that hangs or fails delays the next one by its limit only', async () => {
  const looks = { count: 0 };
  const look = () => {
    looks.count += 1;
    if (looks.count === 1) return new Promise<never>(() => {});
    return looks.count === 2 ? Promise.reject(new Error('away')) : Promise.resolve();
  };
  const moved = { silenceMs: 10, look, hasMoved: () => looks.count >= 3 };
  await expect(unlessMoved(new Promise<never>(() => {}), moved, limits)).rejects.toThrow(
    LeaderMoved,
  );
});

test('the failure of a request is its result', async () => {
  const failing = Promise.reject(new Error('refused'));
  const { looks, ...moved } = leaders(1);
  await expect(unlessMoved(failing, { silenceMs: 10, ...moved }, limits)).rejects.toThrow(
    'refused',
  );
  await after(50, null);
  expect(looks.count).toBe(0);
});
