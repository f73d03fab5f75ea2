import { createHmac } from 'node:crypto';
import { cpuSeconds, ratePerCpuSecond } from '../report/on-cpu.ts';
import type { OwnChecks } from './own-checks.ts';
import type { SampleRequest } from './sample.ts';
import { hashByViem, wholeByViem } from './viem-checks.ts';

type Work = (request: SampleRequest, index: number) => unknown;

export const viemWhole = 'whole order, viem verifyTypedData';

/** Names of the steps, and one run of each. What a step needs of an earlier one is made ahead. */
export function ownSteps(own: OwnChecks, requests: readonly SampleRequest[]): Map<string, Work> {
  const ready = requests.map((request) => {
    const caller = own.prove(request);
    const item: unknown = JSON.parse(request.body.toString('utf8'));
    const job = own.check(item, caller);
    const rs = job.signature.subarray(0, 64);
    const hash = own.rules.known.check(job);
    if (hash === null) throw new Error('a signed sample is valid');
    const publicKey = own.curve.recoverKey(rs, (job.signature[64] ?? 27) - 27, hash);
    if (publicKey === null) throw new Error('a signed sample has a signer');
    return { caller, item, job, rs, hash, publicKey };
  });
  type Ready = (typeof ready)[number];
  const part = (work: (one: Ready) => unknown): Work => {
    return (_request, index) => work(ready[index] as Ready);
  };
  const separator = own.hasher.domains[0]?.separator ?? Buffer.alloc(32);
  return new Map<string, Work>([
    ['whole order, ours, known signer', (request) => own.whole(request, own.rules.known)],
    ['whole order, ours, first of its signer', (request) => own.whole(request, own.rules.recover)],
    ['part: headers, passphrase, HMAC of the body', (request) => own.prove(request)],
    ['part: bare HMAC of the body', bareHmac],
    ['part: bare JSON.parse', (request) => JSON.parse(request.body.toString('utf8'))],
    ['part: schema, form, rules, struct hash', part((one) => own.check(one.item, one.caller))],
    [
      'part: EIP-712 digest from the struct hash',
      part((one) => own.hasher.orderHash(separator, one.job.structHash)),
    ],
    [
      'part: bare verify, known key',
      part((one) => own.curve.verify(one.rs, one.hash, one.publicKey)),
    ],
    [
      'part: bare recover',
      part((one) => own.curve.recoverKey(one.rs, (one.job.signature[64] ?? 27) - 27, one.hash)),
    ],
    ['part: EIP-712 hash, viem', (request) => hashByViem(request)],
  ]);
}

function bareHmac(request: SampleRequest): Buffer {
  return createHmac('sha256', request.secret).update(request.body).digest();
}

/** One sample per step and round, all steps in turn, viem behind them. */
export async function measureSteps(
  steps: ReadonlyMap<string, Work>,
  requests: readonly SampleRequest[],
  rules: { readonly rounds: number; readonly seconds: number },
): Promise<Map<string, number[]>> {
  const rates = new Map<string, number[]>([...steps.keys(), viemWhole].map((name) => [name, []]));
  for (let round = 0; round < rules.rounds; round += 1) {
    for (const [name, work] of steps) {
      const one = (index: number) => {
        const place = index % requests.length;
        work(requests[place] as SampleRequest, place);
      };
      rates.get(name)?.push(ratePerCpuSecond(one, rules.seconds));
    }
    rates.get(viemWhole)?.push(await viemRate(requests, rules.seconds));
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
