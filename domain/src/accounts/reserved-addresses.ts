import { parseWalletAddress, type WalletAddress, walletFromBytes } from '@pm/schemas/ids';
import { familyDomains, type SigningDomain } from '@pm/schemas/signing';
import { walletFactories } from './derived-wallets.ts';

/** The wallet that fees are paid to unless `PM_FEE_WALLET` names another. No person holds its key. */
export const defaultFeeWallet = '0x00000000000000000000000000000000000000fe' as WalletAddress;

/** Zero, the precompiled contracts and burn addresses such as 0x…dead: all zeros but the last two bytes. */
const smallAddress = /^0x0{36}[0-9a-f]{4}$/;

const familyContracts: ReadonlySet<WalletAddress> = new Set([
  ...walletFactories.map(walletFromBytes),
  ...familyDomains.flatMap(contractsOf),
]);

function contractsOf({ exchange, negRiskExchange }: SigningDomain): readonly WalletAddress[] {
  return [exchange, negRiskExchange].flatMap((address) => parseWalletAddress(address) ?? []);
}

/** The addresses of an installation that belong to no trader. */
export interface OwnAddresses {
  readonly feeWallet: WalletAddress;
  readonly signingDomain: SigningDomain;
}

/**
 * Whether an address is the fee wallet, or one that no trader can hold: a small one, an exchange contract of the
 * installation's signing domain or of the API family, or a wallet factory. Such an address gets no API key, owns no
 * wallet and is owned by no address.
 */
export function isReservedAddress(
  address: WalletAddress,
  { feeWallet, signingDomain }: OwnAddresses,
): boolean {
  if (address === feeWallet || smallAddress.test(address)) return true;
  return familyContracts.has(address) || contractsOf(signingDomain).includes(address);
}
