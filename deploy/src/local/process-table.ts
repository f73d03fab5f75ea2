import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { systemCodeOf } from './stack-error.ts';

/**
 * Start time of a process: it distinguishes the process from a later one with the same number. Text, only compared.
 * Undefined when there is no such process, or a zombie.
 */
export function startMarkOf(pid: number): string | undefined {
  const stat = readStat(pid);
  if (stat !== undefined) return stat.state === 'Z' ? undefined : stat.startTicks;
  if (process.platform === 'linux' || !isAlive(pid)) return undefined;
  try {
    const started = execFileSync('ps', ['-o', 'lstart=', '-p', String(pid)], { encoding: 'utf8' });
    return started.trim() === '' ? undefined : started.trim();
  } catch {
    return undefined;
  }
}

/** A started process as it is written to disk, for use after a crash. */
export interface ProcessRecord {
  readonly name: string;
  readonly pid: number;
  readonly startMark: string;
  /** A part of its command line; a second proof that the number does not belong to another process. */
  readonly command: string;
  readonly supervisorPid: number;
}

/** Whether the recorded process, and not a later one with its number, is running. */
export function isStillRunning(record: ProcessRecord): boolean {
  if (startMarkOf(record.pid) !== record.startMark) return false;
  const commandLine = readCommandLine(record.pid);
  return commandLine === undefined || commandLine.includes(record.command);
}

/** Whether any process has this number. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return systemCodeOf(error) === 'EPERM';
  }
}

/**
 * Sends a signal to a process or, with a negative number, to its group. False when it is gone.
 */
export function sendSignal(pid: number, signal: NodeJS.Signals): boolean {
  try {
    process.kill(pid, signal);
    return true;
  } catch (error) {
    if (systemCodeOf(error) === 'ESRCH') return false;
    throw error;
  }
}

/** Present use of a process. Zero where the platform does not report it (no /proc). */
export interface ProcessUsage {
  readonly rssBytes: number;
  readonly cpuSeconds: number;
}

/** Linux counts processor time in hundredths of a second on every machine Node runs on. */
const ticksPerSecond = 100;

export function usageOf(pid: number): ProcessUsage {
  const stat = readStat(pid);
  const status = readProc(pid, 'status') ?? '';
  const kibibytes = /^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1] ?? '0';
  return {
    rssBytes: Number(kibibytes) * 1024,
    cpuSeconds: stat === undefined ? 0 : stat.cpuTicks / ticksPerSecond,
  };
}

interface Stat {
  readonly state: string;
  readonly startTicks: string;
  readonly cpuTicks: number;
}

function readStat(pid: number): Stat | undefined {
  const text = readProc(pid, 'stat');
  if (text === undefined) return undefined;
  // The second field is the name in parentheses and may hold blanks and parentheses; the rest
  // counts from field 3.
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  const field = (number: number): string => fields[number - 3] ?? '';
  return {
    state: field(3),
    startTicks: field(22),
    cpuTicks: Number(field(14)) + Number(field(15)),
  };
}

function readCommandLine(pid: number): string | undefined {
  return readProc(pid, 'cmdline')?.replaceAll('\0', ' ');
}

function readProc(pid: number, file: string): string | undefined {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8');
  } catch {
    return undefined;
  }
}
