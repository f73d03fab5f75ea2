import { createHmac, timingSafeEqual } from 'node:crypto';
import { type Caller, checkOrder } from '@pm/ingress/core/check-order';
import { tokensOf } from '@pm/ingress/core/listed-token';
import { readOrderForm } from '@pm/ingress/core/order-form';
import { OrderHasher } from '@pm/ingress/core/order-hash';
import { type KnownKeys, type SignatureJob, SignatureRule } from '@pm/ingress/core/order-signature';
import { openNativeCrypto } from '@pm/ingress/native';
import { isSignedBy, readKeyClaim } from '@pm/kit/walletauth';
import { OrderSubmission } from '@pm/schemas';
import { Compile } from 'typebox/compile';
import { type SampleRequest, sampleMarket } from './sample.ts';

/** The checks of ingress on one thread, in the order of the door, with the parts it is made of. */
export function openOwnChecks(nowMs: number) {
  const { keccak, curve } = openNativeCrypto();
  const hasher = new OrderHasher(keccak);
  const knowing = new Map<string, Buffer>();
  const known: KnownKeys = {
    get: (name) => knowing.get(name),
    set: (name, key) => knowing.set(name, key),
  };
  const never: KnownKeys = { get: () => undefined, set: () => {} };
  const rules = {
    known: new SignatureRule(hasher, curve, known),
    recover: new SignatureRule(hasher, curve, never),
  };
  const tokens = new Map(tokensOf(sampleMarket).map((token) => [token.tokenId, token]));
  const submission = Compile(OrderSubmission);
  const isSubmission = (value: unknown): value is OrderSubmission => submission.Check(value);

  function prove(request: SampleRequest): Caller {
    const claim = readKeyClaim(request.headers);
    if (claim === null || Math.abs(nowMs - claim.timestampMs) > 300_000) throw new Error('headers');
    const isPassphrase = sameText(claim.passphrase, request.passphrase);
    const signed = { method: 'POST', url: '/order', body: request.body };
    if (!isPassphrase || !isSignedBy(request.secret, claim, signed)) throw new Error('proof');
    const { apiKey, address } = claim;
    const times = { nowMs, arrivedAtMs: nowMs };
    return { apiKey, address, ...times, selfTrade: 'CANCEL_NEWEST', statusOf: () => 'NORMAL' };
  }

  function check(item: unknown, caller: Caller): SignatureJob {
    const read = readOrderForm(item, isSubmission);
    if (read.kind !== 'form') throw new Error('form');
    const sound = checkOrder(read.form, caller, (id) => tokens.get(id));
    if (sound.kind !== 'sound') throw new Error(sound.code);
    const { struct, signature } = sound.form;
    return {
      signature,
      structHash: hasher.structHash(struct),
      wrapped: false,
      negRisk: sound.token.market.negRisk,
      owner: Buffer.from(caller.address.slice(2), 'hex'),
      maker: struct.maker,
    };
  }

  function whole(request: SampleRequest, rule: SignatureRule): Buffer {
    const caller = prove(request);
    const job = check(JSON.parse(request.body.toString('utf8')), caller);
    const verdict = rule.check(job);
    if (verdict === null) throw new Error('signature');
    return verdict;
  }

  return { prove, check, whole, rules, hasher, curve };
}

export type OwnChecks = ReturnType<typeof openOwnChecks>;

/** As the door compares passphrases: by digests of equal length, in constant time. */
function sameText(left: string, right: string): boolean {
  const digest = (text: string) => createHmac('sha256', 'passphrase').update(text).digest();
  return timingSafeEqual(digest(left), digest(right));
}
