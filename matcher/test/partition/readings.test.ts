import { openMetrics } from '@pm/kit/metrics';
import { readPartitions } from '../../src/metrics.ts';

const status = { tickAgeMs: 250, openOrders: 12, markets: 3, slicesQueued: 2, unseenOutputs: 5 };

test('a live partition is as late as its clock, and others are not shown', async () => {
  const metrics = openMetrics('matcher');
  readPartitions(metrics, {
    nowMs: () => 10_000,
    unopened: () => 3,
    partitions: () => [
      { partition: 0, state: 'live', role: 'owner', timeMs: 9_900, ...status },
      { partition: 1, state: 'restoring', role: 'none', timeMs: 0, ...status },
      { partition: 2, state: 'live', role: 'standby', timeMs: 10_400, ...status },
    ],
  });
  const text = await metrics.text();
  expect(text).toMatch(/pm_matcher_partitions_unopened\{[^}]*\} 3/);
  expect(text).toMatch(/pm_matcher_lag_seconds\{partition="0",[^}]*\} 0\.1/);
  expect(text).toMatch(/pm_matcher_lag_seconds\{partition="2",[^}]*\} 0\n/);
  expect(text).toMatch(/pm_matcher_open_orders\{partition="0",[^}]*\} 12/);
  expect(text).toMatch(/pm_matcher_slices_queued\{partition="0",[^}]*\} 2/);
  expect(text).toMatch(/pm_matcher_unseen_outputs\{partition="2",[^}]*\} 5/);
  // The values of all matchers must add up to that of the exchange, so a standby shows no open orders.
  expect(text).not.toMatch(/pm_matcher_open_orders\{partition="2"/);
  expect(text).not.toContain('partition="1"');
});
