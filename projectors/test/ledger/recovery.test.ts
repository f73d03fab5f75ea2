import { LedgerFold } from '@pm/domain/ledger/ledger-fold';
import type { LogClient } from '@pm/kit/kafka';
import { silentLog } from '@pm/kit/log';
import { LedgerRecovery } from '../../src/ledger/recovery.io.ts';

const topics = { executions: 'executions', transfers: 'transfers' };

/** A ledger that is lost until it is restored, and a log whose first records are gone. */
function lostLedger() {
  const calls = { reads: 0, restores: 0 };
  const state = { mark: 0, isBusy: false };
  const bounds = async () => new Map([0, 1, 2, 3].map((one) => [one, { low: 10, high: 90 }]));
  const client = { admin: async () => ({ bounds, close: async () => {} }) };
  const recovery = new LedgerRecovery({
    ledger: { mark: async () => state.mark },
    restore: {
      isEmpty: async () => state.mark === 0,
      isUnderWay: async () => false,
      isBusy: async () => state.isBusy,
      run: async () => {
        calls.restores += 1;
        await new Promise((resolve) => setTimeout(resolve, 20));
        state.mark = 50;
        return 'restored';
      },
    },
    checkpoints: {
      ledger: async () => {
        calls.reads += 1;
        await new Promise((resolve) => setTimeout(resolve, 20));
        return { image: new LedgerFold(), places: [] };
      },
    },
    client: client as unknown as LogClient,
    topics,
    log: silentLog,
  });
  return { recovery, calls, state };
}

test('all views of a process wait for one read of the checkpoint and one restore', async () => {
  const { recovery, calls } = lostLedger();
  const starts = [0, 1, 2, 3].map((partition) => recovery.start('executions', partition));
  expect(await Promise.all(starts)).toEqual([50, 50, 50, 50]);
  expect(calls).toEqual({ reads: 1, restores: 1 });
});

test('no checkpoint is read while another process restores', async () => {
  const { recovery, calls, state } = lostLedger();
  state.isBusy = true;
  const start = recovery.start('executions', 0);
  await new Promise((resolve) => setTimeout(resolve, 100));
  expect(calls).toEqual({ reads: 0, restores: 0 });
  state.mark = 60;
  expect(await start).toBe(60);
});
