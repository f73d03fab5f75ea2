/** A process of a service, and what the gateway reaches it with. */
export interface ServiceProcess<T> {
  readonly url: string;
  readonly connection: T;
}

interface Known<T> extends ServiceProcess<T> {
  /** Others come first until then, milliseconds of `performance.now()`. */
  restsUntilMs: number;
  /** Requests that take long: it may have stopped, or they have much to do. */
  overdue: number;
  /** It does not answer probes either: others come first. */
  isSilent: boolean;
  isProbed: boolean;
}

/** A process that could not be reached comes last for so long, milliseconds. */
const restMs = 1_000;
/** One with a request that is not answered after this is probed, milliseconds: longer than a result is waited for. */
const overdueMs = 4_000;
/** Pause between two probes, milliseconds. */
const probePauseMs = 1_000;

/** Whether a process answers a short request, within a bounded time. */
export type Probe = (url: string) => Promise<boolean>;

/** The processes of one service, which do the same: any of them may serve a request. */
export class ServiceProcesses<T> {
  readonly #processes: readonly Known<T>[];
  readonly #answers: Probe;
  #isClosed = false;

  constructor(
    urls: readonly string[],
    open: (url: string) => T,
    answers: Probe = async () => true,
  ) {
    this.#answers = answers;
    this.#processes = urls.map((url) => ({
      url,
      connection: open(url),
      restsUntilMs: 0,
      overdue: 0,
      isSilent: false,
      isProbed: false,
    }));
  }

  /** Ends the probes. */
  close(): void {
    this.#isClosed = true;
  }

  get all(): readonly ServiceProcess<T>[] {
    return this.#processes;
  }

  /** No process could be reached the last time that it was tried, within the time that such a one rests. */
  get isAway(): boolean {
    const nowMs = performance.now();
    return this.#processes.every(({ restsUntilMs, isSilent }) => isSilent || restsUntilMs > nowMs);
  }

  /** In the order in which a request tries them: the best by `rankOf` first, those that rest last. */
  inOrder(rankOf: (process: ServiceProcess<T>) => number): readonly ServiceProcess<T>[] {
    if (this.#processes.length === 1) return this.#processes;
    const nowMs = performance.now();
    const ranked = this.#processes.map((process) => {
      const rests = process.restsUntilMs > nowMs || process.isSilent;
      return { process, rests, rank: rankOf(process) };
    });
    ranked.sort((one, other) => Number(one.rests) - Number(other.rests) || other.rank - one.rank);
    return ranked.map(({ process }) => process);
  }

  /** Others come first for a while. */
  rest({ url }: ServiceProcess<T>): void {
    const process = this.#find(url);
    if (process !== undefined) process.restsUntilMs = performance.now() + restMs;
  }

  /**
   * Runs a request of a process. While one takes long the process is probed, and others come first as long as it does
   * not answer: a request that has much to do moves nobody to another process.
   */
  async watch<R>({ url }: ServiceProcess<T>, ask: () => Promise<R>): Promise<R> {
    const process = this.#find(url);
    if (process === undefined || this.#processes.length === 1) return await ask();
    let isOverdue = false;
    const timer = setTimeout(() => {
      isOverdue = true;
      process.overdue += 1;
      void this.#probe(process);
    }, overdueMs);
    try {
      return await ask();
    } finally {
      clearTimeout(timer);
      if (isOverdue) process.overdue -= 1;
    }
  }

  async #probe(process: Known<T>): Promise<void> {
    if (process.isProbed) return;
    process.isProbed = true;
    while (!this.#isClosed && (process.overdue > 0 || process.isSilent)) {
      process.isSilent = !(await this.#answers(process.url));
      await new Promise<void>((resolve) => void setTimeout(resolve, probePauseMs).unref());
    }
    process.isProbed = false;
  }

  #find(url: string): Known<T> | undefined {
    return this.#processes.find((one) => one.url === url);
  }
}

/** Characters of a caller that count: the text may come from a header. */
const callerMaxChars = 64;

/**
 * Ranks processes for a caller, so that all requests of one go to the same process while it can be reached, and callers
 * spread evenly: what a process has in memory for a caller is used, and a caller reads its own writes there at once
 * (rendezvous hashing; FNV-1a).
 */
export function rankFor(caller: string): (process: Pick<ServiceProcess<unknown>, 'url'>) => number {
  const counted = caller.slice(0, callerMaxChars).toLowerCase();
  return ({ url }) => {
    let hash = fnvOffset;
    for (const text of [counted, url])
      for (let index = 0; index < text.length; index += 1)
        hash = Math.imul(hash ^ text.charCodeAt(index), fnvPrime);
    return mixed(hash);
  };
}

const fnvOffset = 0x811c9dc5;
const fnvPrime = 0x01000193;

/** URLs differ in their last digits, which FNV-1a leaves in the low bits; ranks compare the high ones first. */
function mixed(hash: number): number {
  const once = Math.imul(hash ^ (hash >>> 16), 0x7feb352d);
  const twice = Math.imul(once ^ (once >>> 15), 0x846ca68b);
  return (twice ^ (twice >>> 16)) >>> 0;
}
