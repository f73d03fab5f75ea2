import type { AcceptedDomains } from '@pm/domain/accounts/signing-domain';
import { familyDomains } from '@pm/schemas/signing';
import { testDomain } from '../../kit/test/signing-domain.ts';
import { OrderHasher, type OrderStruct } from '../src/orders/eip712.ts';
import { readOrderForm } from '../src/orders/form.ts';
import { openOrderCrypto } from '../src/orders/order-crypto.io.ts';
import { type SignatureJob, SignatureRule } from '../src/orders/signature.ts';
import type { TestOrder } from './wallet-fixture.ts';

export const crypto = openOrderCrypto();

/** An installation that also accepts what published clients sign, as the demo does. */
export const accepted: AcceptedDomains = { own: testDomain, family: familyDomains };

/** A rule under the given domains. */
export function openRule(domains: AcceptedDomains = accepted) {
  const hasher = new OrderHasher(crypto.keccak, domains);
  return { hasher, rule: new SignatureRule(hasher, crypto.curve) };
}

export function submissionOf(order: TestOrder, signature: string, more: object = {}) {
  return { order: { ...order, signature }, owner: '', ...more };
}

export function structOf(order: TestOrder): OrderStruct {
  const form = readOrderForm(
    submissionOf(order, `0x${'11'.repeat(65)}`),
    (value): value is never => value !== null,
  );
  if (typeof form === 'string') throw new Error('the order is well-formed');
  return form.struct;
}

export function jobFor(
  order: TestOrder,
  signature: string,
  owner: string,
  negRisk = false,
): Omit<SignatureJob, 'structHash'> {
  return {
    signature: bytesOf(signature),
    wrapped: order.signatureType === 3,
    negRisk,
    owner: bytesOf(owner),
    maker: bytesOf(order.maker),
  };
}

export function bytesOf(hex: string): Buffer {
  return Buffer.from(hex.slice(2), 'hex');
}
