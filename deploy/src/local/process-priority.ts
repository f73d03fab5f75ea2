import { existsSync, writeFileSync } from 'node:fs';
import { setPriority } from 'node:os';

/**
 * Lowers the priority of a process: 0 is that of all others, 19 gets the processor when nothing else wants it. Linux
 * with autogroups compares processes only within a session, and sessions by a number of their own: both are set.
 * Nothing happens when the process has ended, or the system does not allow it.
 */
export function lowerPriority(pid: number, niceness: number): void {
  const session = `/proc/${pid}/autogroup`;
  try {
    setPriority(pid, niceness);
    if (existsSync(session)) writeFileSync(session, String(niceness));
  } catch {
    // Nothing depends on it.
  }
}
