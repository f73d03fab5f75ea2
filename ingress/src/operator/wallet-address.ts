import { parseWalletAddress, type WalletAddress } from '@pm/schemas';
import { Type } from 'typebox';

/** The parameter of paths that name a wallet. */
export const WalletParams = Type.Object({
  address: Type.String({ pattern: '^0x[0-9a-fA-F]{40}$' }),
});

/** Wallets in one answer of a list. */
export const listedWalletsMax = 1_000;

/** The address of a text whose form a schema has checked. */
export function addressOf(text: string): WalletAddress {
  return parseWalletAddress(text) as WalletAddress;
}
