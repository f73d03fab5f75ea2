import { createHmac } from 'node:crypto';
import { recoveryOf } from '@pm/domain/orders/signature';
import { cpuSeconds, ratePerCpuSecond } from '../report/on-cpu.ts';
import type { OwnChecks } from './own-checks.ts';
import type { SampleBatch, SampleRequest } from './sample.ts';
import { hashByViem, wholeByViem } from './viem-checks.ts';

type Work = (request: SampleRequest, index: number) => unknown;

export const viemWhole = 'whole order, viem verifyTypedData';

/** Steps that are compared with each other. */
export const stepNames = {
  whole: 'whole order, ours',
  batch: 'whole batch of 15, ours',
  proof: 'part: headers, passphrase, HMAC of the body',
  hmac: 'part: bare HMAC of the body',
  hash: 'part: EIP-712 hash of an order',
  keccak: 'part: bare Keccak-256 of the same bytes',
  signature: 'part: signature under the first domain',
  recover: 'part: bare recovery of the key',
} as const;

/** Steps that are also measured without the binaries of keccak and secp256k1, as on a platform that has none. */
export const binarySteps = [stepNames.whole, stepNames.keccak, stepNames.recover] as const;

export const nameWithout = (step: string) => `${step}, without binaries`;

/** Inputs of an EIP-712 hash of an order: twelve words, then 0x1901 with two. */
const structBytes = Buffer.alloc(12 * 32, 1);
const digestBytes = Buffer.alloc(2 + 2 * 32, 1);

/** Names of the steps, and one run of each. Inputs from earlier steps are prepared. */
export function ownSteps(
  own: OwnChecks,
  requests: readonly SampleRequest[],
  batches: readonly SampleBatch[],
): Map<string, Work> {
  const ready = requests.map((request) => {
    const caller = own.prove(request);
    const item: unknown = JSON.parse(request.body.toString('utf8'));
    const job = own.check(item, caller);
    const struct = own.structOf(item);
    const rs = job.signature.subarray(0, 64);
    const recovery = recoveryOf(job.signature[64] ?? 0);
    const hash = own.rule.check(job);
    if (!Buffer.isBuffer(hash) || recovery === null) throw new Error('a signed sample is valid');
    return { caller, item, job, struct, rs, recovery, hash };
  });
  type Ready = (typeof ready)[number];
  const part = (work: (one: Ready) => unknown): Work => {
    return (_request, index) => work(ready[index] as Ready);
  };
  const separator = own.hasher.domains[0]?.separator ?? Buffer.alloc(32);
  return new Map<string, Work>([
    [stepNames.whole, (request) => own.whole(request)],
    [
      stepNames.batch,
      (_request, index) => own.wholeBatch(batches[index % batches.length] as SampleBatch),
    ],
    [stepNames.proof, (request) => own.prove(request)],
    [stepNames.hmac, bareHmac],
    ['part: bare JSON.parse', (request) => JSON.parse(request.body.toString('utf8'))],
    ['part: schema, form, rules, struct hash', part((one) => own.check(one.item, one.caller))],
    [
      stepNames.hash,
      part((one) => own.hasher.orderHash(separator, own.hasher.structHash(one.struct))),
    ],
    [
      stepNames.keccak,
      () => {
        own.keccak(structBytes);
        return own.keccak(digestBytes);
      },
    ],
    [stepNames.signature, part((one) => own.rule.check(one.job))],
    [stepNames.recover, part((one) => own.curve.recoverKey(one.rs, one.recovery, one.hash))],
    ['part: EIP-712 hash, viem', (request) => hashByViem(request)],
  ]);
}

/** Steps that use binaries, by checks that were opened without binaries. */
export function stepsWithout(steps: ReadonlyMap<string, Work>): Map<string, Work> {
  return new Map(binarySteps.map((name) => [nameWithout(name), steps.get(name) as Work]));
}

function bareHmac(request: SampleRequest): Buffer {
  return createHmac('sha256', request.secret).update(request.body).digest();
}

/** Warm-up of the step before each sample: garbage of the previous step is not counted. */
const uncountedShare = 0.2;

/** One sample per step and round, all steps in sequence, viem after the first. */
export async function measureSteps(
  steps: ReadonlyMap<string, Work>,
  requests: readonly SampleRequest[],
  rules: { readonly rounds: number; readonly seconds: number },
): Promise<Map<string, number[]>> {
  const rates = new Map<string, number[]>([...steps.keys(), viemWhole].map((name) => [name, []]));
  for (let round = 0; round < rules.rounds; round += 1) {
    for (const [place, [name, work]] of [...steps].entries()) {
      const one = (index: number) => {
        const at = index % requests.length;
        work(requests[at] as SampleRequest, at);
      };
      ratePerCpuSecond(one, rules.seconds * uncountedShare);
      rates.get(name)?.push(ratePerCpuSecond(one, rules.seconds));
      if (place > 0) continue;
      await viemRate(requests, rules.seconds * uncountedShare);
      rates.get(viemWhole)?.push(await viemRate(requests, rules.seconds));
    }
  }
  return rates;
}

async function viemRate(requests: readonly SampleRequest[], forSeconds: number): Promise<number> {
  const started = cpuSeconds();
  let [runs, used] = [0, 0];
  while (used < forSeconds) {
    await wholeByViem(requests[runs % requests.length] as SampleRequest);
    runs += 1;
    used = cpuSeconds() - started;
  }
  return runs / used;
}
