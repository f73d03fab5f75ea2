import { Random } from '@pm/kit/random';
import { conditionIdFromBytes, type Transfer, walletFromBytes } from '@pm/schemas';
import { TransferTotals } from '../../src/ledger/transfer-totals.ts';
import { LedgerModel } from '../../src/testing/ledger-model.ts';

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
    const totals = new TransferTotals();
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

test('only the newest ids are kept', () => {
  const totals = new TransferTotals(100);
  const transfer = (id: number): Transfer => {
    const transferId = Buffer.alloc(32);
    transferId.writeUInt32BE(id);
    return { transferId, wallet: Buffer.alloc(20, 1), amountMicro: 1, timeMs: 1, generation: 0 };
  };
  for (let id = 0; id < 1_000; id += 1) {
    expect(totals.apply(id, transfer(id))).not.toBeNull();
    const again = Array.from({ length: Math.min(id + 1, 50) }, (_, back) =>
      totals.apply(id, transfer(id - back)),
    );
    expect(again.filter((one) => one !== null)).toEqual([]);
    expect(totals.ids).toBeLessThanOrEqual(100);
  }
});
