import { walletFromBytes } from '@pm/schemas/ids';
import { type Transfer, withdrawalLateMs } from '@pm/schemas/log/accounts';
import { TransferSums } from '../../src/audit/transfer-sums.ts';

const wallet = Buffer.alloc(20, 7);

function transfer(id: number, amountMicro: number, more: Partial<Transfer> = {}): Transfer {
  const transferId = Buffer.alloc(32, id);
  return { transferId, wallet, amountMicro, timeMs: 1_000_000, generation: 1, ...more };
}

function sumOf(...transfers: Transfer[]): number {
  const sums = new TransferSums();
  for (const one of transfers) sums.take(one);
  return sums.byWallet.get(walletFromBytes(wallet)) ?? 0;
}

test('a transfer id counts once, by its first record', () => {
  expect(sumOf(transfer(1, 100), transfer(1, 100), transfer(2, -30), transfer(2, -50))).toBe(70);
});

test('a withdrawal of an older generation than a fence before it is void', () => {
  const fence = transfer(9, 0, { timeMs: 86_400_000, generation: 2 });
  expect(sumOf(transfer(1, 100), fence, transfer(2, -30))).toBe(100);
  expect(sumOf(transfer(1, 100), transfer(2, -30), fence)).toBe(70);
  expect(sumOf(transfer(1, 100), fence, transfer(2, -30, { generation: 2 }))).toBe(70);
});

test('a withdrawal accepted long before the time of a fence before it is void', () => {
  const at = (afterMs: number) => transfer(9, 0, { timeMs: 1_000_000 + afterMs, generation: 0 });
  expect(sumOf(transfer(1, 100), at(withdrawalLateMs), transfer(2, -30))).toBe(70);
  expect(sumOf(transfer(1, 100), at(withdrawalLateMs + 1), transfer(2, -30))).toBe(100);
});
