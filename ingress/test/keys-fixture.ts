import type { WalletAddress } from '@pm/schemas/ids';
import {
  type L1Purpose,
  l1Domain,
  l1Message,
  l1Messages,
  l1TypeText,
  headers as names,
} from '@pm/schemas/signing';
import {
  call,
  type IngressUnderTest,
  nowSeconds,
  type SentRequest,
  trioIn,
} from './ingress-fixture.ts';
import { digestOf, hashStruct, separatorOf, type TestWallet } from './wallet-fixture.ts';

/**
 * The headers with which a wallet proves itself: as published clients make them, or for a purpose and the contract of
 * an installation.
 */
export function attestation(
  wallet: TestWallet,
  {
    nonce = '0',
    chainId = 137,
    seconds = nowSeconds,
    verifyingContract,
    purpose,
  }: {
    nonce?: string;
    chainId?: number;
    seconds?: number;
    verifyingContract?: string;
    purpose?: L1Purpose;
  } = {},
): Record<string, string> {
  const fields = [
    { name: 'address', type: 'address' },
    { name: 'timestamp', type: 'string' },
    { name: 'nonce', type: 'uint256' },
    { name: 'message', type: 'string' },
  ];
  const timestamp = String(seconds);
  const text = purpose === undefined ? l1Message : l1Messages[purpose];
  const message = { address: wallet.address, timestamp, nonce, message: text };
  const struct = hashStruct(l1TypeText, fields, message);
  const digest = digestOf(
    separatorOf({
      ...l1Domain,
      chainId,
      ...(verifyingContract === undefined ? {} : { verifyingContract }),
    }),
    struct,
  );
  return {
    [names.address]: wallet.address,
    [names.signature]: wallet.sign(digest),
    [names.timestamp]: timestamp,
    [names.nonce]: nonce,
  };
}

/** A request with these headers and none of an API key. */
export async function ask(
  ingress: IngressUnderTest,
  { method, url, body, headers = {} }: SentRequest,
): Promise<{ status: number; headers: Record<string, unknown>; body: unknown }> {
  const answer = await ingress.app.inject({
    method,
    url,
    headers: { 'content-type': 'application/json', ...headers },
    ...(body === undefined ? {} : { payload: body }),
  });
  return { status: answer.statusCode, headers: answer.headers, body: answer.json() };
}

/** A caller with an API key of its own. */
export async function join(ingress: IngressUnderTest, wallet: TestWallet) {
  const trio = trioIn(await ingress.keys.create(wallet.address as WalletAddress, '0'));
  const headers = { [names.address]: wallet.address };
  return {
    trio,
    wallet,
    call: (sent: SentRequest) =>
      call(ingress, { ...sent, trio, headers: { ...headers, ...sent.headers } }),
  };
}
