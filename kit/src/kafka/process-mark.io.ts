import { readFileSync, readlinkSync } from 'node:fs';

/**
 * A process among all that ran on this machine since it was booted: the boot, the namespace of its number, the number,
 * and when it started. Null where the platform does not tell (no /proc) or there is no such process.
 */
export function processMark(pid: number = process.pid): string | null {
  const start = startTicksOf(pid);
  const space = pidSpaceOf(pid);
  return start === null || space === null ? null : `${space} ${pid} ${start}`;
}

/**
 * Whether the process of a mark has certainly ended, so that nothing can come from it any more. False for one of
 * another machine or container, which cannot be seen from here, and for one that has ended and was not reaped yet.
 */
export function hasEnded(mark: string): boolean {
  const [, space, number, start] = markPattern.exec(mark) ?? [];
  if (space === undefined || space !== pidSpaceOf(process.pid)) return false;
  const pid = Number(number);
  if (!exists(pid)) return true;
  // A later process may have got the number.
  const startNow = startTicksOf(pid);
  return startNow !== null && startNow !== start;
}

const markPattern = /^(\S+ \S+) ([1-9]\d{0,9}) (\d+)$/;

/** The boot of the machine and the namespace in which a process has its number. */
function pidSpaceOf(pid: number): string | null {
  try {
    const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
    return `${boot} ${readlinkSync(`/proc/${pid}/ns/pid`)}`;
  } catch {
    return null;
  }
}

/** The 22nd field; the second one is a name in parentheses and may hold blanks and parentheses. */
function startTicksOf(pid: number): string | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return (
      stat.slice(stat.lastIndexOf(')') + 2).split(' ')[startField - firstFieldAfterName] ?? null
    );
  } catch {
    return null;
  }
}

const startField = 22;
const firstFieldAfterName = 3;

/** Also where /proc hides the processes of others: only "no such process" proves that it is gone. */
function exists(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return Reflect.get(Object(error), 'code') !== 'ESRCH';
  }
}
