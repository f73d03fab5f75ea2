import { ReadRefusal } from '@pm/domain/reading/refusal';
import { leaderboardSearch, readLeaderboardQuery } from '../../src/reports/leaderboard-query.ts';
import { wallet } from '../in-memory.ts';

const namesakes = Array.from({ length: 1_500 }, (_, index) => wallet(index));
const profiles = { named: (name: string) => (name === 'Ann' ? namesakes : []) };

function walletsOf(query: Readonly<Record<string, string>>): readonly string[] | null | undefined {
  const read = readLeaderboardQuery(query, true);
  if (read instanceof ReadRefusal) throw new Error('a good query');
  return leaderboardSearch(read, profiles)?.wallets;
}

test('of a name a bounded number of wallets is looked up, and any of them by its address', () => {
  expect(walletsOf({ userName: 'Ann' })).toEqual(namesakes.slice(0, 1_000));
  expect(walletsOf({ userName: 'Ann', user: wallet(1_400) })).toEqual([wallet(1_400)]);
  expect(walletsOf({ userName: 'Ann', user: wallet(1_600) })).toBeUndefined();
  expect(walletsOf({ userName: 'Bob' })).toBeUndefined();
  expect(walletsOf({})).toBeNull();
});
