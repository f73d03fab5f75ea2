import {
  type Signer,
  type TypedData,
  type TypedDataSigner,
  walletFromPrivateKey,
} from '@pm/client';
import { checksumAddress, parseWalletAddress } from '@pm/schemas/ids';

/**
 * The ten accounts that every Hardhat and Anvil node starts with. Their keys are public knowledge; the demo funds them
 * with test money.
 */
const testKeys = [
  '0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80',
  '0x59c6995e998f97a5a0044966f0945389dc9e86dae88c7a8412f4603b6b78690d',
  '0x5de4111afa1a4b94908f83103eb1f1706367c2e68ca870fc3fb9a804cdab365a',
  '0x7c852118294e51e653712a81e05800f419141751be58f605c371e15141b007a6',
  '0x47e179ec197488593b187f80a00eb0da91f1b9d0b13f8733639f19c30a34926a',
  '0x8b3a350cf5c34c9194ca85829a2df0ec3153be0318b5e2d3348e872092edffba',
  '0x92db14e403b83dfe3df233f83dfa3a0d7096f21ca9b0d6d6b8d88b2b4ec1564e',
  '0x4bbbf85ce3377467afe5d46f804f221813b2bb87f24d81f60f1fcdbf7cbf4356',
  '0xdbda1821b80551c9d65939329250298aa3472ba22feea921c0cf5d620ea67b97',
  '0x2a871d0798f97d79848a013d4936a73bf4cc922c825d33c1cf7073dff6d409c6',
] as const;

/** Names of the test wallets, in their order. */
export const testWalletNames = testKeys.map((_, index) => `Test wallet ${index + 1}`);

/** Throws `RangeError` for a number without a wallet. */
export function testWallet(index: number): Signer {
  const key = testKeys[index];
  if (key === undefined) throw new RangeError('there is no such test wallet');
  return walletFromPrivateKey(key);
}

/** The part of EIP-1193 that is used. */
interface BrowserWallet {
  request(sent: {
    readonly method: string;
    readonly params?: readonly unknown[];
  }): Promise<unknown>;
}

declare global {
  interface Window {
    readonly ethereum?: BrowserWallet;
  }
}

export function hasBrowserWallet(): boolean {
  return window.ethereum !== undefined;
}

/** Asks the browser's wallet for an account; it shows every order that it signs. */
export async function connectBrowserWallet(): Promise<TypedDataSigner> {
  const wallet = window.ethereum;
  if (wallet === undefined) throw new Error('this browser has no wallet');
  const accounts = (await wallet.request({ method: 'eth_requestAccounts' })) as readonly string[];
  const address = parseWalletAddress(accounts[0] ?? '');
  if (address === null) throw new Error('the wallet gave no account');
  return {
    address,
    checksummed: checksumAddress(address),
    async signTypedData(data: TypedData) {
      const params = [address, JSON.stringify(data)];
      return String(await wallet.request({ method: 'eth_signTypedData_v4', params }));
    },
  };
}
