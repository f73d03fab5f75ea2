import { Worker } from 'node:worker_threads';
import type { AcceptedDomains } from '@pm/domain/accounts/signing-domain';
import type { WalletClaim } from '@pm/domain/accounts/wallet-claim';
import { Fault } from '@pm/kit/fault';
import type { OrderHasher } from './eip712.ts';
import type {
  AttestationVerdict,
  Curve,
  SignatureJob,
  SignatureRule,
  SignatureVerdict,
} from './signature.ts';
import { type DomainReading, explainSignature } from './signature-explanation.ts';
import type { WorkerData, WorkerRequest, WorkerResult } from './signature-worker.io.ts';

export interface SignaturePoolOptions {
  /** Threads; 0 checks on the calling one. */
  readonly workers: number;
  readonly workerFile: URL;
  /** Of the threads; the same as the rule's. */
  readonly domains: AcceptedDomains;
  /** Checks on the calling thread: attestations, and orders when there are no workers. */
  readonly rule: SignatureRule;
  readonly hasher: OrderHasher;
  readonly curve: Curve;
  /** A thread has died: the process should stop. */
  onFault(fault: Fault): void;
}

/** Signatures that wait or are being checked; at about 60 microseconds each, a quarter of a second of work. */
export const signatureQueueMax = 4_096;

interface Waiting {
  readonly jobs: readonly SignatureJob[];
  resolve(verdicts: readonly SignatureVerdict[]): void;
}

/** Spreads checks over a bounded pool of threads; each gets the next request when it has returned the last. */
export class SignaturePool {
  readonly #options: SignaturePoolOptions;
  readonly #workers: Worker[] = [];
  readonly #idle: Worker[] = [];
  readonly #queue: Waiting[] = [];
  readonly #running = new Map<number, Waiting>();
  #queued = 0;
  #nextId = 0;
  #closed = false;

  constructor(options: SignaturePoolOptions) {
    this.#options = options;
    for (let index = 0; index < options.workers; index += 1) this.#addWorker();
  }

  /** Signatures without a verdict yet. */
  get queued(): number {
    return this.#queued;
  }

  /** Verdicts in the order of the jobs; null, at once, when the queue is full. */
  async check(jobs: readonly SignatureJob[]): Promise<readonly SignatureVerdict[] | null> {
    if (this.#workers.length === 0) return jobs.map((job) => this.#options.rule.check(job));
    if (this.#queued + jobs.length > signatureQueueMax) return null;
    this.#queued += jobs.length;
    return await new Promise((resolve) => {
      this.#queue.push({ jobs, resolve });
      this.#pump();
    });
  }

  /** Rare, so it is done here. */
  explain(job: SignatureJob): readonly DomainReading[] {
    return explainSignature(job, this.#options);
  }

  /** Rare and short, so it is done here. */
  attest(claim: WalletClaim): AttestationVerdict {
    const owner = Buffer.from(claim.address.slice(2), 'hex');
    const { timestamp, nonce } = claim;
    const hashes = this.#options.hasher.attestationHashes({ address: owner, timestamp, nonce });
    return this.#options.rule.attest(claim.signature, hashes, owner);
  }

  async close(): Promise<void> {
    this.#closed = true;
    await Promise.all(this.#workers.map((worker) => worker.terminate()));
  }

  #addWorker(): void {
    const workerData: WorkerData = { domains: this.#options.domains };
    const worker = new Worker(this.#options.workerFile, { workerData });
    worker.on('message', (result: WorkerResult) => this.#settle(worker, result));
    worker.on('error', (cause) => this.#fail(cause));
    worker.on('exit', () => this.#fail(undefined));
    this.#workers.push(worker);
    this.#idle.push(worker);
  }

  /** Waiting requests go to idle threads; while one is busy, requests gather and cross together. */
  #pump(): void {
    while (this.#queue.length > 0) {
      const worker = this.#idle.pop();
      if (worker === undefined) return;
      const share = Math.ceil(this.#queue.length / (this.#idle.length + 1));
      this.#post(worker, this.#queue.splice(0, share));
    }
  }

  #post(worker: Worker, requests: readonly Waiting[]): void {
    const id = this.#nextId++;
    const jobs = requests.flatMap((request) => request.jobs);
    this.#running.set(id, { jobs, resolve: (verdicts) => share(requests, verdicts) });
    worker.postMessage({ id, jobs } satisfies WorkerRequest);
  }

  #settle(worker: Worker, { id, verdicts }: WorkerResult): void {
    const batch = this.#running.get(id);
    this.#running.delete(id);
    this.#idle.push(worker);
    if (batch === undefined) return;
    this.#queued -= batch.jobs.length;
    batch.resolve(
      verdicts.map((verdict) => (verdict instanceof Uint8Array ? asBuffer(verdict) : verdict)),
    );
    this.#pump();
  }

  #fail(cause: unknown): void {
    if (this.#closed) return;
    const facts = { queued: this.#queued };
    this.#options.onFault(new Fault('signature_worker_died', 'stop', { facts, cause }));
  }
}

function share(requests: readonly Waiting[], verdicts: readonly SignatureVerdict[]): void {
  let from = 0;
  for (const { jobs, resolve } of requests) {
    resolve(verdicts.slice(from, from + jobs.length));
    from += jobs.length;
  }
}

function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
