import { runLength, seedsFrom } from '../../../kit/test/long-runs.ts';
import { topicNames } from './matcher-process.ts';
import { readOutputs } from './reading.ts';
import { ReplicaHistory } from './replica-history.ts';

const histories = runLength({ test: 2, deep: 16 });

describe('replicas that stand still, die, and lose sends', () => {
  const seen = { claims: 0, copies: 0, pauses: 0, kills: 0 };

  test.each(seedsFrom(1, histories))(
    'store each output once or more with the same bytes, and end with one owner, seed %i',
    async (seed) => {
      const history = new ReplicaHistory(seed);
      await history.run();
      const inputs = history.log.records(topicNames.orders).length;
      const { executions, copies } = readOutputs(history.log);
      expect(executions.length).toBe(inputs);
      const statuses = history.statuses();
      expect(statuses.map(({ role }) => role).sort()).toEqual(['owner', 'standby', 'standby']);
      expect(new Set(statuses.map(({ chain, term }) => `${chain} ${term}`)).size).toBe(1);
      expect(statuses.map(({ unseenOutputs }) => unseenOutputs)).toEqual([0, 0, 0]);
      seen.claims += history.claims().length;
      seen.copies += copies;
      seen.pauses += history.pauses;
      seen.kills += history.kills;
    },
    60_000,
  );

  test('have claimed, paused, died and written copies in these histories', () => {
    // The fewer histories, the more they differ from the mean.
    expect(Math.min(...Object.values(seen))).toBeGreaterThan(Math.max(0, 3 * histories - 8));
  });
});
