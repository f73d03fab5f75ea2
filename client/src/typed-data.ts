import type { WalletAddress } from '@pm/schemas/ids';
import {
  type L1Purpose,
  l1Domain,
  l1Messages,
  l1TypeText,
  orderTypeText,
  type SigningDomain,
} from '@pm/schemas/signing';
import type { OrderStruct } from './eip712.ts';

/** Typed data as `eth_signTypedData_v4` takes it. */
export interface TypedData {
  readonly types: Readonly<Record<string, readonly TypedField[]>>;
  readonly primaryType: string;
  readonly domain: Readonly<Record<string, string | number>>;
  readonly message: Readonly<Record<string, string | number>>;
}

interface TypedField {
  readonly name: string;
  readonly type: string;
}

/** A wallet that shows what it signs, such as one in a browser (EIP-1193). */
export interface TypedDataSigner {
  /** Lower case. */
  readonly address: WalletAddress;
  /** EIP-55 form, as headers carry it. */
  readonly checksummed: string;
  /** r | s | v as 0x-text of 65 bytes; rejects when the owner refuses. */
  signTypedData(data: TypedData): Promise<string>;
}

/** `Order(uint256 salt,...)` as a list of fields. */
function fieldsOf(typeText: string): readonly TypedField[] {
  const inside = typeText.slice(typeText.indexOf('(') + 1, -1);
  return inside.split(',').map((field) => {
    const [type = '', name = ''] = field.split(' ');
    return { name, type };
  });
}

const domainFields = fieldsOf(
  'EIP712Domain(string name,string version,uint256 chainId,address verifyingContract)',
);

/** An order for a wallet that signs typed data; its digest is `orderDigest`. Signature types 0 to 2. */
export function orderTypedData(
  order: OrderStruct,
  domain: SigningDomain,
  negRisk: boolean,
): TypedData {
  const { name, version, chainId } = domain;
  const verifyingContract = negRisk ? domain.negRiskExchange : domain.exchange;
  return {
    types: { EIP712Domain: domainFields, Order: fieldsOf(orderTypeText) },
    primaryType: 'Order',
    domain: { name, version, chainId, verifyingContract },
    message: {
      salt: order.salt.toString(),
      maker: order.maker,
      signer: order.signer,
      tokenId: order.tokenId.toString(),
      makerAmount: order.makerAmount.toString(),
      takerAmount: order.takerAmount.toString(),
      side: order.side === 'BUY' ? 0 : 1,
      signatureType: order.signatureType,
      timestamp: order.timestampMs.toString(),
      metadata: order.metadata,
      builder: order.builder,
    },
  };
}

/** Typed data that a wallet signs for a purpose, such as its API key; its digest is `l1Digest`. */
export function attestationTypedData(attestation: {
  readonly address: string;
  readonly timestamp: string;
  readonly nonce: bigint;
  readonly purpose: L1Purpose;
  readonly domain: SigningDomain;
}): TypedData {
  const { address, timestamp, nonce, purpose } = attestation;
  const { chainId, exchange } = attestation.domain;
  return {
    types: { EIP712Domain: domainFields, ClobAuth: fieldsOf(l1TypeText) },
    primaryType: 'ClobAuth',
    domain: { ...l1Domain, chainId, verifyingContract: exchange },
    message: { address, timestamp, nonce: nonce.toString(), message: l1Messages[purpose] },
  };
}
