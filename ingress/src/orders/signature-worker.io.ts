import { parentPort, workerData } from 'node:worker_threads';
import type { AcceptedDomains } from '@pm/domain/accounts/signing-domain';
import { assert } from '@pm/kit/assert';
import { OrderHasher } from './eip712.ts';
import { openNativeCrypto } from './native-crypto.io.ts';
import { type SignatureJob, SignatureRule } from './signature.ts';

/** A message to the worker; bytes arrive there as plain Uint8Arrays. */
export interface WorkerRequest {
  readonly id: number;
  readonly jobs: readonly SignatureJob[];
}

export interface WorkerResult {
  readonly id: number;
  readonly verdicts: readonly (Uint8Array | 'other_domain' | null)[];
}

/** What a thread is started with. */
export interface WorkerData {
  readonly domains: AcceptedDomains;
}

/** The thread: one message of jobs in, one of verdicts out. */
function run(): void {
  const port = parentPort;
  assert(port !== null, 'this file runs as a worker thread');
  const { domains } = workerData as WorkerData;
  const { keccak, curve } = openNativeCrypto();
  const rule = new SignatureRule(new OrderHasher(keccak, domains), curve);
  port.on('message', ({ id, jobs }: WorkerRequest) => {
    const verdicts = jobs.map((job) => rule.check(asBuffers(job)));
    port.postMessage({ id, verdicts } satisfies WorkerResult);
  });
}

function asBuffers(job: SignatureJob): SignatureJob {
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
