import { KeyDirectory } from '@pm/domain/accounts/key-directory';
import { openKeyVerifier } from '@pm/domain/accounts/key-verifier';
import { tokensOf } from '@pm/domain/catalog/catalog-index';
import { OrderHasher, type OrderStruct } from '@pm/domain/orders/eip712';
import type { OrderCrypto } from '@pm/domain/orders/order-crypto.io';
import { type SignatureJob, SignatureRule } from '@pm/domain/orders/signature';
import { type Caller, checkRules } from '@pm/ingress/orders/check';
import { readOrderForm } from '@pm/ingress/orders/form';
import { OrderSubmission } from '@pm/schemas/http/trading';
import {
  apiKeyBytes,
  hexBytes,
  parseApiKeyId,
  parseWalletAddress,
  type TokenId,
  type WalletAddress,
} from '@pm/schemas/ids';
import { Compile } from 'typebox/compile';
import {
  type SampleBatch,
  type SampleRequest,
  sampleDomain,
  sampleMarket,
  sampleSecret,
} from './sample.ts';

/** The checks of ingress on one thread, in their order, with the parts of ingress. */
export function openOwnChecks(
  nowMs: number,
  requests: readonly SampleRequest[],
  { keccak, curve }: OrderCrypto,
) {
  const hasher = new OrderHasher(keccak, { own: sampleDomain, family: [] });
  const rule = new SignatureRule(hasher, curve);
  const tokens = new Map(tokensOf(sampleMarket).map((token) => [token.tokenId, token]));
  const markets = { findToken: (id: TokenId) => tokens.get(id) };
  const owners = { isOwnedBy: (wallet: WalletAddress, owner: WalletAddress) => wallet === owner };
  const submission = Compile(OrderSubmission);
  const isSubmission = (value: unknown): value is OrderSubmission => submission.Check(value);

  const verify = openKeyVerifier({
    keys: sampleKeys(requests),
    secrets: { present: sampleSecret, others: [] },
    freshness: { secondsMs: 300_000, millisecondsMs: 30_000 },
    nowMs: () => nowMs,
  });

  function prove({ headers, body }: SampleBatch, path = '/order'): Caller {
    const holder = verify({ method: 'POST', url: path, headers, body });
    if (holder === null) throw new Error('proof');
    const { wallet: address, ...proven } = holder;
    const times = { nowMs, arrivedAtMs: nowMs };
    const answerPlaces = { add() {} };
    const client = '127.0.0.1';
    return { ...proven, address, client, ...times, answerPlaces, statusOf: () => 'NORMAL' };
  }

  function check(item: unknown, caller: Caller): SignatureJob {
    const form = readOrderForm(item, isSubmission);
    if (typeof form === 'string') throw new Error(form);
    const checked = checkRules(form, caller, { markets, owners });
    if (checked.kind === 'refused') throw new Error(checked.code);
    const { struct, signature } = form;
    return {
      signature,
      structHash: hasher.structHash(struct),
      wrapped: false,
      negRisk: checked.token.market.negRisk,
      owner: Buffer.from(caller.address.slice(2), 'hex'),
      maker: struct.maker,
    };
  }

  function structOf(item: unknown): OrderStruct {
    const form = readOrderForm(item, isSubmission);
    if (typeof form === 'string') throw new Error(form);
    return form.struct;
  }

  function whole(request: SampleRequest): Buffer {
    const caller = prove(request);
    const job = check(JSON.parse(request.body.toString('utf8')), caller);
    const verdict = rule.check(job);
    if (!Buffer.isBuffer(verdict)) throw new Error('signature');
    return verdict;
  }

  /** A request of many orders: one proof, then every check of every order. */
  function wholeBatch(batch: SampleBatch): void {
    const caller = prove(batch, '/orders');
    const items = JSON.parse(batch.body.toString('utf8')) as unknown[];
    const jobs = items.map((item) => check(item, caller));
    if (jobs.some((job) => !Buffer.isBuffer(rule.check(job)))) throw new Error('signature');
  }

  return { prove, check, structOf, whole, wholeBatch, rule, hasher, curve, keccak };
}

export type OwnChecks = ReturnType<typeof openOwnChecks>;

/** The keys of the sample, as the log lists them. */
function sampleKeys(requests: readonly SampleRequest[]): KeyDirectory {
  const keys = new KeyDirectory();
  for (const { submission, address } of requests) {
    const [apiKey, wallet] = [parseApiKeyId(submission.owner), parseWalletAddress(address)];
    if (apiKey === null || wallet === null) throw new Error('a sample has a key');
    const rules = { keyKind: 'TRADING', selfTrade: 'CANCEL_NEWEST' } as const;
    const listed = {
      nonce: '0',
      version: 0,
      active: true,
      createdAtMs: 0,
      revokedAtMs: 0,
      ...rules,
    };
    keys.apply({ apiKey: apiKeyBytes(apiKey), wallet: hexBytes(wallet), ...listed });
  }
  return keys;
}
