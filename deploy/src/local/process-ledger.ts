import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { isAlive, isStillRunning, type ProcessRecord, sendSignal } from './process-table.ts';

/** Time for processes that lost their supervisor to end by themselves. */
const orphanGraceMs = 10_000;
const pollMs = 50;

/**
 * The list of running processes on disk, for use after a crash: by the watchdog at once, or by the next start. In order
 * of their start; they are stopped from the end of the list.
 */
export class ProcessLedger {
  readonly file: string;
  #records: readonly ProcessRecord[] = [];

  constructor(file: string) {
    this.file = file;
  }

  add(record: ProcessRecord): void {
    this.#records = [...this.#records, record];
    this.#write();
  }

  remove(pid: number): void {
    this.#records = this.#records.filter((record) => record.pid !== pid);
    this.#write();
  }

  /** Renamed into place, so that a crash leaves either the old list or the new one. */
  #write(): void {
    const next = `${this.file}.next`;
    writeFileSync(next, JSON.stringify(this.#records));
    renameSync(next, this.file);
  }
}

/** The processes a ledger names that still run. */
export function readOrphans(file: string): ProcessRecord[] {
  try {
    const records: unknown = JSON.parse(readFileSync(file, 'utf8'));
    return Array.isArray(records) ? records.filter(isRecord).filter(isStillRunning) : [];
  } catch {
    // No list, or a partial one: nothing is known, so nothing is ended.
    return [];
  }
}

function isRecord(value: unknown): value is ProcessRecord {
  if (typeof value !== 'object' || value === null) return false;
  const { name, pid, startMark, command, supervisorPid } = value as Partial<ProcessRecord>;
  const texts = [name, startMark, command];
  const numbers = [pid, supervisorPid];
  if (!numbers.every((number) => typeof number === 'number' && number > 1)) return false;
  return texts.every((text) => typeof text === 'string');
}

/**
 * Ends processes that lost their supervisor, last started first, each with its group. They are
 * identified by start time and command line, so another program that got the same number is left alone.
 *
 * @param supervisorPid only processes of this supervisor; without it all of the list.
 * @returns the names of the ended processes.
 */
export async function endOrphans(file: string, supervisorPid?: number): Promise<string[]> {
  const isOurs = (record: ProcessRecord): boolean =>
    supervisorPid === undefined || record.supervisorPid === supervisorPid;
  const orphans = readOrphans(file).filter(isOurs).reverse();
  for (const orphan of orphans) {
    sendSignal(orphan.pid, 'SIGCONT');
    sendSignal(orphan.pid, 'SIGTERM');
    const deadline = performance.now() + orphanGraceMs;
    while (isStillRunning(orphan) && performance.now() < deadline) await sleep(pollMs);
    if (isAlive(-orphan.pid)) sendSignal(-orphan.pid, 'SIGKILL');
  }
  return orphans.map((orphan) => orphan.name);
}
