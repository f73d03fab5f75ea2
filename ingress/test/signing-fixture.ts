import type { AcceptedDomains } from '@pm/domain/accounts/signing-domain';
import { OrderHasher, type OrderStruct } from '@pm/domain/orders/eip712';
import { openOrderCrypto } from '@pm/domain/orders/order-crypto.io';
import { type SignatureJob, SignatureRule } from '@pm/domain/orders/signature';
import { familyDomains } from '@pm/schemas/signing';
import { testDomain } from '../../kit/test/signing-domain.ts';
import { readOrderForm } from '../src/orders/form.ts';
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
