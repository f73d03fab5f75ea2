import { parentPort, workerData } from 'node:worker_threads';
import type { AcceptedDomains } from '@pm/domain/accounts/signing-domain';
import { OrderHasher } from '@pm/domain/orders/eip712';
import { openOrderCrypto } from '@pm/domain/orders/order-crypto.io';
import { type SignatureJob, SignatureRule } from '@pm/domain/orders/signature';
import { assert } from '@pm/kit/assert';
import { type DomainReading, explainSignature } from './signature-explanation.ts';

/** A message to the worker; bytes arrive there as plain Uint8Arrays. */
export interface WorkerRequest {
  readonly id: number;
  readonly jobs: readonly PooledJob[];
}

/** A check, or with `isExplained` the signature under every domain. */
export type PooledJob = SignatureJob & { readonly isExplained?: true };

/** A verdict, or the readings of an explanation. */
export type PooledResult = Uint8Array | 'other_domain' | null | readonly DomainReading[];

export interface WorkerResult {
  readonly id: number;
  readonly results: readonly PooledResult[];
}

/** Data that a thread is started with. */
export interface WorkerData {
  readonly domains: AcceptedDomains;
}

/** The thread: one message of jobs in, one of verdicts out. */
function run(): void {
  const port = parentPort;
  assert(port !== null, 'this file runs as a worker thread');
  const { domains } = workerData as WorkerData;
  const { keccak, curve } = openOrderCrypto();
  const hasher = new OrderHasher(keccak, domains);
  const rule = new SignatureRule(hasher, curve);
  const resultOf = (job: PooledJob): PooledResult =>
    job.isExplained ? explainSignature(job, { hasher, curve }) : rule.check(job);
  port.on('message', ({ id, jobs }: WorkerRequest) => {
    const results = jobs.map((job) => resultOf(asBuffers(job)));
    port.postMessage({ id, results } satisfies WorkerResult);
  });
}

function asBuffers(job: PooledJob): PooledJob {
  return {
    ...job,
    signature: asBuffer(job.signature),
    structHash: asBuffer(job.structHash),
    owner: asBuffer(job.owner),
    maker: asBuffer(job.maker),
  };
}

function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

run();
