import { Random } from '@pm/kit/random';
import { conditionIdFromBytes, walletFromBytes } from '@pm/schemas/ids';
import type { Transfer } from '@pm/schemas/log/accounts';
import { TransferTotals } from '../../src/ledger/transfer-totals.ts';
import { LedgerModel } from '../../src/testing/ledger-model.ts';
import { MemoryTransfers } from '../../src/testing/memory-transfers.ts';

/** Deposits, withdrawals and fences; ids are repeated now and then. */
function randomTransfer(random: Random): Transfer {
  const isFence = random.chance(0.05);
  const amount = random.integer(1, 1_000) * (random.chance(0.4) ? -1 : 1);
  return {
    transferId: Buffer.alloc(32, random.integer(1, 250)),
    wallet: Buffer.alloc(20, random.integer(1, 4)),
    amountMicro: isFence ? 0 : amount,
    timeMs: 1_780_000_000_000 + random.integer(0, 90_000),
    generation: random.chance(0.5) ? 0 : random.integer(1, 5),
  };
}

test.each([1, 2, 3])(
  'totals are what a rebuilt ledger makes of the same transfers, seed %d',
  (seed) => {
    const random = new Random(seed);
    const ledger = new LedgerModel();
    const totals = new TransferTotals(new MemoryTransfers());
    for (let offset = 0; offset < 600; offset += 1) {
      const transfer = randomTransfer(random);
      const transferId = conditionIdFromBytes(transfer.transferId);
      const wallet = walletFromBytes(transfer.wallet);
      const transfers = [{ ...transfer, transferId, wallet }];
      ledger.applyTransfers({ fromOffset: offset, toOffset: offset + 1, transfers });
      const changed = totals.apply(offset, transfer);
      if (changed !== null) expect(totals.of(changed).offset).toBe(offset);
      expect(totals.of(wallet).totalMicro).toBe(ledger.balance(wallet).freeMicro);
    }
  },
);

test('only wallets that are read are in memory, and those that are forgotten are summed again', () => {
  const random = new Random(4);
  const totals = new TransferTotals(new MemoryTransfers());
  const expected = new TransferTotals(new MemoryTransfers());
  const wallets = [1, 2, 3, 4].map((at) => walletFromBytes(Buffer.alloc(20, at)));
  for (const wallet of wallets) expected.of(wallet);
  for (let offset = 0; offset < 300; offset += 1) {
    const transfer = randomTransfer(random);
    expected.apply(offset, transfer);
    const changed = totals.apply(offset, transfer);
    if (totals.kept === 0) expect(changed).toBeNull();
    if (offset % 50 === 10) expect(wallets.map((one) => totals.of(one).totalMicro)).toHaveLength(4);
    if (offset % 50 === 30) for (const wallet of wallets) totals.forget(wallet);
    expect(totals.kept).toBe(offset % 50 >= 10 && offset % 50 < 30 ? 4 : 0);
  }
  expect(wallets.map((one) => totals.of(one))).toEqual(wallets.map((one) => expected.of(one)));
});

test('a repetition that is older than the newest ids changes no total in memory', () => {
  class NoNewIds extends MemoryTransfers {
    override hasNewId(): boolean {
      return false;
    }
  }
  const totals = new TransferTotals(new NoNewIds());
  const deposit = {
    transferId: Buffer.alloc(32, 1),
    wallet: Buffer.alloc(20, 1),
    amountMicro: 5,
    timeMs: 1_780_000_000_000,
    generation: 0,
  };
  const wallet = walletFromBytes(deposit.wallet);
  totals.of(wallet);
  expect(totals.apply(0, deposit)).toBe(wallet);
  const total = { offset: 0, timeMs: deposit.timeMs, totalMicro: 5 };
  expect([totals.apply(1, deposit), totals.of(wallet)]).toEqual([null, total]);
  const next = { ...deposit, transferId: Buffer.alloc(32, 2) };
  expect(totals.apply(2, next)).toBe(wallet);
  expect(totals.of(wallet)).toEqual({ ...total, offset: 2, totalMicro: 10 });
});
