import {
  parseWalletAddress,
  signingDomains,
  type WalletAddress,
  walletFromBytes,
} from '@pm/schemas';
import { walletFactories } from './derived-wallets.ts';

/** The wallet that fees are paid to unless `PM_FEE_WALLET` names another. No person holds its key. */
export const defaultFeeWallet = '0x00000000000000000000000000000000000000fe' as WalletAddress;

/** Zero, the precompiled contracts and burn addresses such as 0x…dead: all zeros but the last two bytes. */
const smallAddress = /^0x0{36}[0-9a-f]{4}$/;

const contracts: ReadonlySet<WalletAddress> = new Set([
  ...walletFactories.map(walletFromBytes),
  ...signingDomains.flatMap(({ exchange, negRiskExchange }) =>
    [exchange, negRiskExchange].flatMap((address) => parseWalletAddress(address) ?? []),
  ),
]);

/**
 * Whether an address is the fee wallet, or one that no trader can hold: a small one, an exchange contract of a signing
 * domain, or a wallet factory. Such an address gets no API key, owns no wallet and is owned by no address.
 */
export function isReservedAddress(address: WalletAddress, feeWallet: WalletAddress): boolean {
  return address === feeWallet || smallAddress.test(address) || contracts.has(address);
}
