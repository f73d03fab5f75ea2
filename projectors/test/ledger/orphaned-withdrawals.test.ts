import { LedgerModel } from '@pm/domain/testing/ledger-model';
import { silentLog } from '@pm/kit/log';
import { walletFromBytes } from '@pm/schemas/ids';
import { type Transfer, withdrawalLateMs } from '@pm/schemas/log/accounts';
import { OrphanedWithdrawals } from '../../src/ledger/orphaned-withdrawals.io.ts';

const wallet = walletFromBytes(Buffer.alloc(20, 1));
const startMs = 1_000_000;
const deposit = { transferId: '0x01', wallet, amountMicro: 100, timeMs: 1, generation: 0 };
const withdrawal = { ...deposit, transferId: '0x02', amountMicro: -40, timeMs: startMs };

/** A ledger with a hold for a withdrawal accepted at `startMs`, and its topic `transfers`. */
function open() {
  const ledger = new LedgerModel();
  const state = { nowMs: startMs, end: 1 };
  const fences: Transfer[] = [];
  const orphans = new OrphanedWithdrawals({
    ledger: {
      mark: async (topic, partition) => ledger.mark(topic, partition),
      newestWithdrawal: async (beforeMs) => ledger.newestWithdrawal(beforeMs),
      releaseWithdrawals: async (beforeMs) => ledger.releaseWithdrawals(beforeMs),
    },
    codec: {
      encode(value) {
        fences.push(value);
        return Buffer.alloc(0);
      },
    },
    producer: {
      send: async (records) => records.map(({ partition }) => ({ partition, offset: state.end++ })),
    },
    topic: 'transfers',
    log: silentLog,
    nowMs: () => state.nowMs,
  });
  ledger.applyTransfers({ fromOffset: 0, toOffset: 1, transfers: [deposit] });
  const plan = { id: 'first', generation: 0 };
  ledger.planRebuild(plan);
  ledger.open(plan, []);
  ledger.reserveWithdrawal({ transferId: '0x02', wallet, amountMicro: 40, acceptedAtMs: startMs });
  const pending = () => ledger.balance(wallet).pendingMicro;
  /** The fold reaches the fence at this offset. */
  const applyFence = (fromOffset: number) => {
    const timeMs = fences.at(-1)?.timeMs ?? 0;
    const fence = { ...deposit, transferId: '0x03', amountMicro: 0, timeMs };
    ledger.applyTransfers({ fromOffset, toOffset: fromOffset + 1, transfers: [fence] });
  };
  return { ledger, state, orphans, fences, pending, applyFence };
}

test('no fence is written while no hold is old enough', async () => {
  const { state, orphans, fences, pending } = open();
  state.nowMs += withdrawalLateMs;
  await orphans.check();
  expect([fences, pending()]).toEqual([[], 40]);
});

test('a hold is released once its fence is applied; a record after that is void', async () => {
  const { ledger, state, orphans, fences, pending, applyFence } = open();
  state.nowMs += withdrawalLateMs + 1;
  await orphans.check();
  const timeMs = startMs + 1 + withdrawalLateMs;
  expect(fences).toMatchObject([{ amountMicro: 0, generation: 0, timeMs }]);
  expect(pending()).toBe(40);
  applyFence(1);
  await orphans.check();
  expect(pending()).toBe(0);
  ledger.close();
  ledger.applyTransfers({ fromOffset: 2, toOffset: 3, transfers: [withdrawal] });
  expect(ledger.balance(wallet).freeMicro).toBe(100);
});

test('a clock that is ahead makes no withdrawal void that is accepted later', async () => {
  const { ledger, state, orphans, fences, applyFence } = open();
  state.nowMs += 3_600_000;
  await orphans.check();
  applyFence(1);
  expect(fences[0]?.timeMs).toBe(startMs + 1 + withdrawalLateMs);
  ledger.close();
  const next = { ...withdrawal, transferId: '0x05', timeMs: startMs + 1 };
  ledger.applyTransfers({ fromOffset: 2, toOffset: 3, transfers: [withdrawal, next].slice(1) });
  expect(ledger.balance(wallet).freeMicro).toBe(60);
});

test('a record before the fence is paid', async () => {
  const { ledger, state, orphans, pending, applyFence } = open();
  state.nowMs += withdrawalLateMs + 1;
  state.end = 2;
  await orphans.check();
  ledger.applyTransfers({ fromOffset: 1, toOffset: 2, transfers: [withdrawal] });
  await orphans.check();
  applyFence(2);
  await orphans.check();
  expect(ledger.balance(wallet)).toMatchObject({ freeMicro: 60, pendingMicro: 0 });
  expect(pending()).toBe(0);
});
