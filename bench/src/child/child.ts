import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { constants } from 'node:os';
import { fileURLToPath } from 'node:url';
import { lowerPriority } from '@pm/deploy/local/process-priority';

/**
 * A process of this package that takes one job, reports that it is ready, works on `go`, returns its result and ends
 * (after several results where the job has several rounds).
 */
export interface Child<Answer> {
  /** Its message when it is prepared. */
  readonly ready: Promise<unknown>;
  readonly pid: number;
  /**
   * Starts the measured part, with what it needs for this round; resolves with its result. Rejects when that takes
   * longer than five minutes, or than the milliseconds given.
   */
  go(input?: unknown, longestMs?: number): Promise<Answer>;
  stop(): void;
}

const waitMs = 300_000;

/** `isBackground`: the process stands for machines elsewhere, and gets the processor when nothing else wants it. */
export function startChild<Answer>(
  name: string,
  job: unknown,
  { isBackground = false }: { readonly isBackground?: boolean } = {},
): Child<Answer> {
  const file = fileURLToPath(new URL(`../${name}.js`, import.meta.url));
  const stdio = ['ignore', 'inherit', 'inherit', 'ipc'] as const;
  const child = fork(file, [], { stdio: [...stdio], detached: isBackground });
  if (isBackground && child.pid !== undefined)
    lowerPriority(child.pid, constants.priority.PRIORITY_LOW);
  child.send({ job });
  return {
    ready: messageOf(child),
    pid: child.pid ?? 0,
    async go(input = null, longestMs = waitMs) {
      const answer = messageOf(child, longestMs);
      child.send({ go: input });
      return ((await answer) as { readonly answer: Answer }).answer;
    },
    stop: () => child.kill('SIGTERM'),
  };
}

async function messageOf(child: ChildProcess, longestMs = waitMs): Promise<unknown> {
  const settled = new AbortController();
  const signal = AbortSignal.any([AbortSignal.timeout(longestMs), settled.signal]);
  const gone = once(child, 'exit', { signal }).then(([code]) => {
    throw new Error(`a child process ended with code ${code}`);
  });
  try {
    const [message] = await Promise.race([once(child, 'message', { signal }), gone]);
    return message;
  } finally {
    // Ends the wait that is left.
    settled.abort();
  }
}

/** The ready message of a child, and its work on `go`. */
export interface Prepared<Answer, Input = unknown> {
  readonly info: unknown;
  /** How often it works; once unless given. */
  readonly rounds?: number;
  work(input: Input): Promise<Answer>;
}

/**
 * The child's side: prepares the job, works on each `go`, sends the result, and ends after the last. It ends with its
 * parent, so it waits for `go` as long as it takes.
 */
export async function serveParent<Job, Answer, Input = unknown>(
  prepare: (job: Job) => Promise<Prepared<Answer, Input>>,
): Promise<void> {
  process.once('disconnect', () => process.exit(1));
  const next = async (options = {}) => {
    const [message] = await once(process, 'message', options);
    return message as { readonly job: Job; readonly go: Input };
  };
  const { job } = await next({ signal: AbortSignal.timeout(waitMs) });
  const { info, work, rounds = 1 } = await prepare(job);
  process.send?.({ info });
  for (let round = 1; round <= rounds; round += 1) {
    const { go } = await next();
    const answer = await work(go);
    process.send?.({ answer }, () => round === rounds && process.exit(0));
  }
}
