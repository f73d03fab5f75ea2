import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import type { Installation } from '@pm/deploy/installation/open';
import { insist } from '@pm/deploy/installation/retry-budget';
import { startMarkOf } from '@pm/deploy/local/process-table';
import { StackError } from '@pm/deploy/local/stack-error';
import { leaseLua } from '@pm/domain/cache/lease-lua';
import { defineScript } from '@pm/kit/redis';

/** Proof that this run alone rebuilds the tables of an installation, on any host. */
export interface RebuildLock {
  /** False once another run may have begun: the lock was taken over, or could not be renewed in time. */
  isHeld(): boolean;
  release(): Promise<void>;
}

/** Holder of the lock; `run` makes it unique. */
interface Holder {
  readonly run: string;
  readonly host: string;
  readonly pid: number;
  readonly startMark: string;
}

/** The lock of a run that died on another host expires after so long, milliseconds. */
const leaseMs = 30_000;
/** Several renewals may fail before the lock is lost. */
const renewEveryMs = 5_000;

/**
 * Takes or renews the lock if it is free, ours, or held by a run that is known to be dead. Returns another holder, else
 * ''.
 */
const takeLua = `${leaseLua}
local held = redis.call('GET', KEYS[1])
if held and held ~= ARGV[1] and held ~= ARGV[3] and isHeld(KEYS[1], ARGV[2]) then return held end
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
return ''
`;

const releaseLua = `
if redis.call('GET', KEYS[1]) == ARGV[1] then redis.call('DEL', KEYS[1]) end
return 0
`;

/**
 * Takes the lock of an installation. That of a run that died on this host is taken over at once, that of another host
 * within half a minute. Throws a `StackError` while another run works.
 */
export async function takeRebuildLock(
  { redis, keys }: Pick<Installation, 'redis' | 'keys'>,
  times = { leaseMs, renewEveryMs },
): Promise<RebuildLock> {
  const own = JSON.stringify(ownName());
  const takeScript = defineScript<string>(redis, 'takeRebuild', takeLua, 1);
  const releaseScript = defineScript<number>(redis, 'releaseRebuild', releaseLua, 1);
  const take = (dead: string) => takeScript.run([keys.rebuild], [own, times.leaseMs, dead]);
  let heldUntilMs = performance.now() + times.leaseMs;
  const first = await insist(() => take(''));
  const other = first !== '' && isDead(first) ? await insist(() => take(first)) : first;
  if (other !== '') throw busy(other);
  const isHeld = () => performance.now() < heldUntilMs;
  const renewal = setInterval(async () => {
    const askedMs = performance.now();
    // A renewal that fails is repeated; the last one that was granted counts.
    const holder = await take('').catch(() => null);
    if (holder === null || !isHeld()) return;
    heldUntilMs = holder === '' ? askedMs + times.leaseMs : 0;
  }, times.renewEveryMs);
  return {
    isHeld,
    async release() {
      clearInterval(renewal);
      const wasHeld = isHeld();
      heldUntilMs = 0;
      // Otherwise it expires.
      if (wasHeld) await releaseScript.run([keys.rebuild], [own]).catch(() => {});
    },
  };
}

function ownName(): Holder {
  const startMark = startMarkOf(process.pid) ?? '';
  return { run: randomUUID(), host: hostname(), pid: process.pid, startMark };
}

function isDead(text: string): boolean {
  const holder = holderOf(text);
  return holder?.host === hostname() && startMarkOf(holder.pid) !== holder.startMark;
}

function busy(text: string): StackError {
  const holder = holderOf(text);
  const who = holder === null ? '' : ` (process ${holder.pid} on ${holder.host})`;
  return new StackError(
    'START_FAILED',
    `another rebuild works on these tables${who}. If it died, its lock expires within ${leaseMs / 1_000} seconds`,
  );
}

function holderOf(text: string): Holder | null {
  try {
    const { run, host, pid, startMark } = JSON.parse(text) as Partial<Holder>;
    const isWhole =
      typeof run === 'string' && typeof host === 'string' && typeof startMark === 'string';
    return isWhole && typeof pid === 'number' ? { run, host, pid, startMark } : null;
  } catch {
    return null;
  }
}
