import { defaultFeeWallet } from '@pm/domain/accounts/reserved-addresses';
import { hexBytes, type WalletAddress } from '@pm/schemas/ids';
import type { CommandOf } from '@pm/schemas/log/orders';
import { Command } from 'commander';
import {
  type StackArguments,
  stackOptions,
  withStackArguments,
} from '../../src/commands/stack-options.ts';
import { refuseOtherFeeWallet } from '../../src/installation/fee-wallet.ts';

const [first, second] = ['ab', 'cd'].map((pair) => `0x${pair.repeat(20)}`) as [
  WalletAddress,
  WalletAddress,
];

function openedFor(...wallets: readonly WalletAddress[]) {
  return new Map(
    wallets.map((wallet, partition) => {
      const opening = { kind: 'OpenPartition', feeWallet: hexBytes(wallet) };
      return [partition, opening as CommandOf<'OpenPartition'>] as const;
    }),
  );
}

test('partitions keep their first fee wallet, and the refusal names it', () => {
  expect(() => refuseOtherFeeWallet(new Map(), first)).not.toThrow();
  expect(() => refuseOtherFeeWallet(openedFor(first), first)).not.toThrow();
  const opened = openedFor(first, second);
  expect(() => refuseOtherFeeWallet(opened, first)).toThrow(`set PM_FEE_WALLET=${second}`);
});

test('the fee wallet of a stack is an option, and an address', () => {
  const feeWalletOf = (...args: string[]) => {
    const command = withStackArguments(new Command()).parse(args, { from: 'user' });
    return stackOptions(command.opts<StackArguments>(), () => {}).feeWallet;
  };
  expect(feeWalletOf()).toBe(defaultFeeWallet);
  expect(feeWalletOf('--fee-wallet', first.toUpperCase().replace('0X', '0x'))).toBe(first);
  expect(() => feeWalletOf('--fee-wallet', '0x12')).toThrow('0x and 40 hex digits, not 0x12');
});
