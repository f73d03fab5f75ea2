import { Worker } from 'node:worker_threads';
import type { AcceptedDomains } from '@pm/domain/accounts/signing-domain';
import type { WalletClaim } from '@pm/domain/accounts/wallet-claim';
import { type Waiter, type WaitingLimits, WaitingShares } from '@pm/domain/commands/waiting-shares';
import type { OrderHasher } from '@pm/domain/orders/eip712';
import { FairQueue } from '@pm/domain/orders/fair-queue';
import type {
  AttestationResult,
  Curve,
  SignatureJob,
  SignatureResult,
  SignatureRule,
} from '@pm/domain/orders/signature';
import { Fault } from '@pm/kit/fault';
import type { L1Purpose } from '@pm/schemas/signing';
import { type DomainReading, explainSignature } from './signature-explanation.ts';
import type {
  PooledJob,
  PooledResult,
  WorkerData,
  WorkerRequest,
  WorkerResult,
} from './signature-worker.io.ts';

export interface SignaturePoolOptions {
  /** Threads; 0 checks on the calling one. */
  readonly workers: number;
  readonly workerFile: URL;
  /** Domains that the threads accept; equal to those of `rule`. */
  readonly domains: AcceptedDomains;
  /** Checks on the calling thread: attestations, and orders when there are no workers. */
  readonly rule: SignatureRule;
  readonly hasher: OrderHasher;
  readonly curve: Curve;
  /** A thread has died: the process should stop. */
  onFault(fault: Fault): void;
}

/**
 * Signatures that wait for a check or are being checked; about 60 microseconds each, and for an invalid one as much
 * again per known domain. Seven clients of different addresses cannot fill the total.
 */
export const checkLimits = { total: 8_192, reserve: 0, perWallet: 512, perClient: 1_024 };

/** Signatures that wait for an explanation, which costs as much as the check of an invalid one. */
export const explanationLimits = { total: 512, reserve: 0, perWallet: 64, perClient: 128 };

/** Checks in one message to a thread: about 2 milliseconds, for which the next caller waits. */
const checksPerMessage = 32;

interface Waiting {
  readonly job: PooledJob;
  resolve(result: PooledResult): void;
}

/** Signatures that wait for one kind of work, and the places they occupy until they have a result. */
interface Queue {
  readonly waiting: FairQueue<Waiting>;
  readonly shares: WaitingShares;
}

function openQueue(limits: WaitingLimits): Queue {
  return { waiting: new FairQueue(), shares: new WaitingShares(limits) };
}

/**
 * Spreads signatures over a bounded pool of threads; each gets the next ones when it has returned the last ones. A
 * single one that comes alone is checked at once.
 * Callers are served in rotation, signature by signature, and none can fill a queue. A message has at most one
 * explanation, so that explanations delay checks little however many wait, and are not delayed for ever either.
 */
export class SignaturePool {
  readonly #options: SignaturePoolOptions;
  readonly #workers: Worker[] = [];
  readonly #idle: Worker[] = [];
  readonly #checks = openQueue(checkLimits);
  readonly #explanations = openQueue(explanationLimits);
  readonly #running = new Map<number, readonly Waiting[]>();
  #nextId = 0;
  #closed = false;
  /** Since the last iteration of the event loop. */
  #hasChecked = false;

  constructor(options: SignaturePoolOptions) {
    this.#options = options;
    for (let index = 0; index < options.workers; index += 1) this.#addWorker();
  }

  /** Signatures without a result yet. */
  get queued(): number {
    return this.#checks.shares.count + this.#explanations.shares.count;
  }

  /** Verdicts in the order of the jobs; null, at once, when the queue or the part of the caller is full. */
  async check(
    jobs: readonly SignatureJob[],
    caller: Waiter,
  ): Promise<readonly SignatureResult[] | null> {
    if (this.#workers.length === 0 || this.#isAlone(jobs))
      return jobs.map((job) => this.#options.rule.check(job));
    const results = await this.#run(this.#checks, jobs, caller);
    return results?.map(verdictOf) ?? null;
  }

  /** The signature under every known domain; null, at once, when the queue or the part of the caller is full. */
  async explain(job: SignatureJob, caller: Waiter): Promise<readonly DomainReading[] | null> {
    if (this.#workers.length === 0) return explainSignature(job, this.#options);
    const results = await this.#run(this.#explanations, [{ ...job, isExplained: true }], caller);
    return results === null ? null : readingsOf(results[0]);
  }

  /**
   * Whether the caller checks here: to send one order to a thread and back costs more than its check. Once in an
   * iteration of the event loop, so that other work waits for one check at most.
   */
  #isAlone(jobs: readonly SignatureJob[]): boolean {
    if (jobs.length !== 1 || this.#hasChecked || this.queued > 0) return false;
    this.#hasChecked = true;
    setImmediate(() => {
      this.#hasChecked = false;
    });
    return true;
  }

  async #run(
    { waiting, shares }: Queue,
    jobs: readonly PooledJob[],
    caller: Waiter,
  ): Promise<readonly PooledResult[] | null> {
    if (!shares.take(caller, true, jobs.length)) return null;
    const results = jobs.map(
      (job) =>
        new Promise<PooledResult>((resolve) => {
          waiting.push(caller, { job, resolve });
        }),
    );
    this.#pump();
    const all = await Promise.all(results);
    shares.leave(caller, jobs.length);
    return all;
  }

  /** Rare and short, so it is done here. */
  attest(claim: WalletClaim, purpose: L1Purpose): AttestationResult {
    const address = Buffer.from(claim.address.slice(2), 'hex');
    const { timestamp, nonce } = claim;
    const hashes = this.#options.hasher.attestationHashes({ address, timestamp, nonce, purpose });
    return this.#options.rule.attest(claim.signature, hashes, address);
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

  /** Waiting signatures go to idle threads; while one is busy, signatures gather and cross together. */
  #pump(): void {
    while (this.#idle.length > 0) {
      const next = this.#next();
      const worker = next.length === 0 ? undefined : this.#idle.pop();
      if (worker === undefined) return;
      const id = this.#nextId++;
      this.#running.set(id, next);
      worker.postMessage({ id, jobs: next.map(({ job }) => job) } satisfies WorkerRequest);
    }
  }

  #next(): readonly Waiting[] {
    const next: Waiting[] = [];
    while (next.length < checksPerMessage) {
      const check = this.#checks.waiting.shift();
      if (check === undefined) break;
      next.push(check);
    }
    const explanation = this.#explanations.waiting.shift();
    return explanation === undefined ? next : [...next, explanation];
  }

  #settle(worker: Worker, { id, results }: WorkerResult): void {
    const settled = this.#running.get(id) ?? [];
    this.#running.delete(id);
    this.#idle.push(worker);
    for (const [at, { resolve }] of settled.entries()) resolve(results[at] ?? null);
    this.#pump();
  }

  #fail(cause: unknown): void {
    if (this.#closed) return;
    const facts = { queued: this.queued };
    this.#options.onFault(new Fault('signature_worker_died', 'stop', { facts, cause }));
  }
}

function verdictOf(result: PooledResult): SignatureResult {
  if (result instanceof Uint8Array) return asBuffer(result);
  return result === 'other_domain' ? result : null;
}

function readingsOf(result: PooledResult | undefined): readonly DomainReading[] {
  return Array.isArray(result) ? result : [];
}

function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
