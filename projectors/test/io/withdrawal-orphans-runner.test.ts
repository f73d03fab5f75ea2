import { LedgerFold } from '@pm/kit/ledger';
import { silentLog } from '@pm/kit/log';
import { walletFromBytes } from '@pm/schemas';
import {
  WithdrawalOrphansRunner,
  withdrawalOrphanMs,
} from '../../src/io/withdrawal-orphans-runner.ts';

const wallet = walletFromBytes(Buffer.alloc(20, 1));
const deposit = { transferId: '0x01', wallet, amountMicro: 100, generation: 0 };

function open() {
  const ledger = new LedgerFold();
  const state = { nowMs: 1_000_000, high: 1 };
  const runner = new WithdrawalOrphansRunner({
    ledger: {
      mark: async (topic, partition) => ledger.mark(topic, partition),
      releaseWithdrawals: async (beforeMs) => ledger.releaseWithdrawals(beforeMs),
    },
    admin: { bounds: async () => new Map([[0, { low: 0, high: state.high }]]) },
    topic: 'transfers',
    log: silentLog,
    nowMs: () => state.nowMs,
  });
  ledger.applyTransfers({ fromOffset: 0, toOffset: 1, transfers: [deposit] });
  const plan = { id: 'first', generation: 0 };
  ledger.planRebuild(plan);
  ledger.open(plan, []);
  ledger.reserveWithdrawal({
    transferId: '0x02',
    wallet,
    amountMicro: 40,
    acceptedAtMs: state.nowMs,
  });
  const pending = () => ledger.balance(wallet).pendingMicro;
  return { ledger, state, runner, pending };
}

test('a hold is released only when it is old enough for its record to be there', async () => {
  const { state, runner, pending } = open();
  state.nowMs += withdrawalOrphanMs;
  await runner.check();
  expect(pending()).toBe(40);
  state.nowMs += 1;
  await runner.check();
  expect(pending()).toBe(0);
});

test('nothing is released while records that stood there are not applied', async () => {
  const { ledger, state, runner, pending } = open();
  state.nowMs += withdrawalOrphanMs + 1;
  state.high = 2;
  await runner.check();
  expect(pending()).toBe(40);
  const paid = { ...deposit, transferId: '0x02', amountMicro: -40, generation: 1 };
  ledger.applyTransfers({ fromOffset: 1, toOffset: 2, transfers: [paid] });
  await runner.check();
  expect(ledger.balance(wallet)).toMatchObject({ freeMicro: 60, pendingMicro: 0 });
});
