import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TestOrder } from './wallet-fixture.ts';

const file = join(__dirname, '../../../shared/data/signature-vectors.json');

export interface VectorDomain {
  readonly name: string;
  readonly version: string;
  readonly chainId: number;
  readonly verifyingContract: string;
}

export interface OrderVector {
  readonly id: string;
  readonly struct: string;
  readonly domain: VectorDomain;
  readonly order: Omit<TestOrder, 'side'> & { readonly side: number };
  readonly order_hash: string;
  readonly signature: string;
  readonly recovered_address?: string;
  readonly owner_recovered?: string;
  readonly signed_digest?: string;
}

export interface Vectors {
  readonly orders: readonly OrderVector[];
  readonly erc1271_orders: readonly OrderVector[];
  readonly real_wallet_orders: readonly OrderVector[];
  readonly l1_clob_auth: readonly {
    readonly id: string;
    readonly message: { address: string; timestamp: string; nonce: number };
    readonly digest: string;
    readonly signature: string;
  }[];
  readonly wallet_derivation: readonly { readonly eoa: string; readonly address: string }[];
}

/** The published vectors; null, said in one line, when they are not beside this repository. */
export function readVectors(): Vectors | null {
  if (existsSync(file)) return JSON.parse(readFileSync(file, 'utf8')) as Vectors;
  process.stderr.write(`NOT RUN: published signature vectors, because ${file} is absent\n`);
  return null;
}

export function orderOf({ order }: OrderVector): TestOrder {
  return { ...order, side: order.side === 0 ? 'BUY' : 'SELL' };
}
