import { LanesApart } from '../../src/kafka/lanes-apart.ts';

interface NamedLane {
  readonly name: string;
  hasRoom(): boolean;
}

const laneOf = (name: string): NamedLane => ({ name, hasRoom: () => true });
const lanes = ['a', 'b', 'c', 'd'].map(laneOf);
const retryMs = 250;

/** So many turns at a broker, 10 ms each, that fails for these lanes; gives what was asked for. */
function turns(
  apart: LanesApart<NamedLane>,
  count: number,
  broken: readonly string[],
  startMs = 0,
): string[] {
  return Array.from({ length: count }, (_, turn) => {
    const nowMs = startMs + turn * 10;
    const asked = apart.choose(lanes, nowMs);
    if (asked.some(({ name }) => broken.includes(name))) apart.failed(asked, lanes, nowMs);
    else if (asked.length > 0) apart.answered(asked);
    return asked.map(({ name }) => name).join('');
  });
}

test('lanes are asked for together while nothing fails', () => {
  expect(turns(new LanesApart(retryMs), 3, [])).toEqual(['abcd', 'abcd', 'abcd']);
});

test('one failure takes nothing apart', () => {
  const apart = new LanesApart<NamedLane>(retryMs);
  expect([...turns(apart, 1, ['a']), ...turns(apart, 2, [])]).toEqual(['abcd', 'abcd', 'abcd']);
});

test('a lane that always fails is soon alone, and tried again now and then', () => {
  const apart = new LanesApart<NamedLane>(retryMs);
  turns(apart, 20, ['b']);
  const asked = turns(apart, 100, ['b'], 1_000);
  expect(asked.filter((names) => names === 'acd').length).toBeGreaterThan(90);
  expect(asked.filter((names) => names.includes('b')).length).toBeGreaterThanOrEqual(3);
});

test('a lane that fails each time and is due again at once does not go before the others', () => {
  const asked = turns(new LanesApart(5), 40, ['a']);
  expect(asked.slice(10).filter((names) => names.includes('b')).length).toBeGreaterThan(5);
});

test('a lane that is well again comes back', () => {
  const apart = new LanesApart<NamedLane>(retryMs);
  turns(apart, 30, ['b']);
  turns(apart, 10, [], 1_000);
  expect(turns(apart, 2, [], 2_000)).toEqual(['abcd', 'abcd']);
});

test('after an outage of the broker the first answer brings all together', () => {
  const apart = new LanesApart<NamedLane>(retryMs);
  turns(apart, 50, ['a', 'b', 'c', 'd']);
  const [first, ...rest] = turns(apart, 3, [], 5_000);
  expect(first).toHaveLength(1);
  expect(rest).toEqual(['abcd', 'abcd']);
});

test('a lane that has left the broker is forgotten, and one that is full is not asked for', () => {
  const apart = new LanesApart<NamedLane>(retryMs);
  const full = { name: 'full', hasRoom: () => false };
  const [a, b] = lanes as [NamedLane, NamedLane];
  apart.separate(b);
  apart.separate(full);
  expect(apart.choose([a, full], 0)).toEqual([a]);
  expect(apart.size).toBe(1);
});
