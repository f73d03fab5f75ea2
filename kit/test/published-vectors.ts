import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Beside this repository, because its licence forbids a copy. */
const file = join(__dirname, '../../../shared/data/signature-vectors.json');

/** An order with the numbers and texts of the file; `side` is 0 for BUY. */
export interface VectorOrder {
  readonly salt: number;
  readonly maker: string;
  readonly signer: string;
  readonly tokenId: string;
  readonly makerAmount: string;
  readonly takerAmount: string;
  readonly side: number;
  readonly signatureType: number;
  readonly timestamp: string;
  readonly metadata: string;
  readonly builder: string;
}

export interface OrderVector {
  readonly id: string;
  readonly struct: string;
  readonly domain: {
    readonly name: string;
    readonly version: string;
    readonly chainId: number;
    readonly verifyingContract: string;
  };
  readonly order: VectorOrder;
  readonly order_hash: string;
  readonly signature: string;
  readonly recovered_address?: string;
  readonly owner_recovered?: string;
  readonly signed_digest?: string;
}

export interface PublishedVectors {
  readonly public_test_key: string;
  readonly public_test_address: string;
  readonly orders: readonly OrderVector[];
  readonly erc1271_orders: readonly OrderVector[];
  readonly real_wallet_orders: readonly OrderVector[];
  readonly l1_clob_auth: readonly {
    readonly id: string;
    readonly domain: { readonly chainId: number };
    readonly message: {
      readonly address: string;
      readonly timestamp: string;
      readonly nonce: number;
    };
    readonly digest: string;
    readonly signature: string;
  }[];
  readonly l2_hmac: readonly {
    readonly secret: string;
    readonly timestamp: string;
    readonly method: string;
    readonly path: string;
    readonly body: string;
    readonly signature: string;
  }[];
  readonly wallet_derivation: readonly { readonly eoa: string; readonly address: string }[];
}

/** Signatures that others have published; null, said in one line, when they are not beside this repository. */
export function readPublishedVectors(): PublishedVectors | null {
  if (existsSync(file)) return JSON.parse(readFileSync(file, 'utf8')) as PublishedVectors;
  process.stderr.write(`NOT RUN: published signature vectors, because ${file} is absent\n`);
  return null;
}
