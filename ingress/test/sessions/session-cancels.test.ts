import type { Session } from '@pm/domain/sessions/session-table';
import { SessionCancels } from '../../src/sessions/session-cancels.io.ts';
import { nothingLeft } from '../sessions-fixture.ts';

test('a cancel bears the time from before the log was asked, however long that took', async () => {
  const times = { nowMs: 1_000, acceptedAtMs: 0 };
  const cancels = new SessionCancels({
    run: async (_partition, command) => {
      if (command.kind === 'CancelOrders') times.acceptedAtMs = command.acceptedAtMs;
      return nothingLeft;
    },
    partitions: { numbers: [0], isReady: () => true, at: () => ({ clockMs: times.nowMs }) },
    nowMs: () => times.nowMs,
  });
  const isStillSo = async () => {
    times.nowMs += 60_000;
    return true;
  };
  const session = { apiKey: '00000000-0000-4000-8000-000000000000' } as Session;
  expect(await cancels.cancel(session, { isSo: () => true, isStillSo })).toBe(true);
  expect(times.acceptedAtMs).toBe(1_000);
});
