import { createHmac, timingSafeEqual } from 'node:crypto';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { clientsRoot, installNpmClients } from '@pm/acceptance/clients/packages';
import { headers as names } from '@pm/schemas/signing';
import { type SampleRequest, sampleDomain } from './sample.ts';

const types = {
  Order: [
    { name: 'salt', type: 'uint256' },
    { name: 'maker', type: 'address' },
    { name: 'signer', type: 'address' },
    { name: 'tokenId', type: 'uint256' },
    { name: 'makerAmount', type: 'uint256' },
    { name: 'takerAmount', type: 'uint256' },
    { name: 'side', type: 'uint8' },
    { name: 'signatureType', type: 'uint8' },
    { name: 'timestamp', type: 'uint256' },
    { name: 'metadata', type: 'bytes32' },
    { name: 'builder', type: 'bytes32' },
  ],
} as const;

type Hex = `0x${string}`;

interface Viem {
  hashTypedData(data: object): Hex;
  verifyTypedData(data: object): Promise<boolean>;
}

/** That of the published clients, since nothing else needs it. */
function openViem(): Viem {
  installNpmClients((line) => console.error(line));
  return createRequire(join(clientsRoot, 'package.json'))('viem') as Viem;
}

const { hashTypedData, verifyTypedData } = openViem();

function typedData(order: SampleRequest['submission']['order']) {
  const { name, version, chainId, exchange } = sampleDomain;
  return {
    domain: { name, version, chainId, verifyingContract: exchange as Hex },
    types,
    primaryType: 'Order',
    message: {
      salt: BigInt(order.salt),
      maker: order.maker as Hex,
      signer: order.signer as Hex,
      tokenId: BigInt(order.tokenId),
      makerAmount: BigInt(order.makerAmount),
      takerAmount: BigInt(order.takerAmount),
      side: order.side === 'BUY' ? 0 : 1,
      signatureType: order.signatureType,
      timestamp: BigInt(order.timestamp),
      metadata: order.metadata as Hex,
      builder: order.builder as Hex,
    },
  } as const;
}

/**
 * The least that an ingress on viem does: HMAC over the body, JSON, `verifyTypedData`; no checks of the order itself.
 */
export async function wholeByViem(request: SampleRequest): Promise<void> {
  const timestamp = request.headers[names.timestamp.toLowerCase()] ?? '';
  const claimed = request.headers[names.signature.toLowerCase()] ?? '';
  const digest = createHmac('sha256', request.secret)
    .update(`${timestamp}POST/order`)
    .update(request.body)
    .digest();
  const isSigned = timingSafeEqual(digest, Buffer.from(claimed, 'base64url'));
  const { order } = JSON.parse(request.body.toString('utf8')) as SampleRequest['submission'];
  const signature = order.signature as Hex;
  const isOwner = await verifyTypedData({
    ...typedData(order),
    address: request.address,
    signature,
  });
  if (!isSigned || !isOwner) throw new Error('viem refuses the sample');
}

export function hashByViem(request: SampleRequest): Hex {
  return hashTypedData(typedData(request.submission.order));
}
