import { mkdir, statfs } from 'node:fs/promises';
import { connect } from 'node:net';
import { waitingPrefix } from '@pm/kit/lifecycle';
import { mebibyte, WaitsForEngines } from './managed-process.ts';
import { loopback } from './ports.ts';
import { StackError } from './stack-error.ts';

/** Timeout of one probe; the supervisor repeats it. */
const probeTimeoutMs = 2000;

/**
 * Sends bytes to a local port and returns the first bytes of the response. Rejects when there is none.
 */
export function askPort(port: number, question: Buffer): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const socket = connect({ port, host: loopback, timeout: probeTimeoutMs });
    const fail = (reason: string): void => {
      socket.destroy();
      reject(new Error(reason));
    };
    socket.once('connect', () => socket.write(question));
    socket.once('data', (answer) => {
      socket.destroy();
      resolve(answer);
    });
    socket.once('timeout', () => fail(`no response on port ${port}`));
    socket.once('error', (error) => fail(error.message));
    socket.once('close', () => fail(`port ${port} closed without a response`));
  });
}

/** Rejects unless a GET returns 200. */
export async function requireOk(url: string): Promise<void> {
  const response = await fetch(url, { signal: AbortSignal.timeout(probeTimeoutMs) });
  await response.arrayBuffer();
  if (response.status !== 200) throw new Error(`${url} returns ${response.status}`);
}

/** Rejects unless a service says that it is ready; with `WaitsForEngines` while it waits for engines. */
export async function requireReady(url: string): Promise<void> {
  const response = await fetch(url, { signal: AbortSignal.timeout(probeTimeoutMs) });
  const body = await response.text();
  if (response.status === 200) return;
  const reasons = reasonsIn(body);
  const engines = reasons.flatMap((reason) =>
    reason.startsWith(waitingPrefix) ? [reason.slice(waitingPrefix.length)] : [],
  );
  throw engines.length === 0
    ? new Error(`${url} returns ${[response.status, ...reasons].join(', ')}`)
    : new WaitsForEngines(engines);
}

/** The reasons for which a service is not ready; none in a body of another form. */
export function reasonsIn(body: string): readonly string[] {
  try {
    const { reasons } = JSON.parse(body) as { readonly reasons?: unknown };
    return Array.isArray(reasons) ? reasons.map(String) : [];
  } catch {
    return [];
  }
}

/** Kafka and ClickHouse fail in unclear ways on a full disk. */
export const defaultMinFreeBytes = 1024 * mebibyte;

/**
 * @throws StackError DISK_NEARLY_FULL when the folder's disk has less than `minFreeBytes` for this
 * user.
 */
export async function requireDiskSpace(folder: string, minFreeBytes: number): Promise<void> {
  await mkdir(folder, { recursive: true });
  const disk = await statfs(folder);
  const freeBytes = disk.bavail * disk.bsize;
  if (freeBytes >= minFreeBytes) return;
  const mebibytes = (bytes: number): string => `${Math.floor(bytes / mebibyte)} MiB`;
  throw new StackError(
    'DISK_NEARLY_FULL',
    `the disk of ${folder} has ${mebibytes(freeBytes)} left, ${mebibytes(minFreeBytes)} are needed. ` +
      'Make room, or choose a data folder on another disk',
  );
}
