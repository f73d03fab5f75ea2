import { spawn } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ManagedProcess } from '@pm/deploy/local/managed-process';

export interface ServiceProcess {
  readonly pid: number;
  /** Stops it like its supervisor, so that Node writes its files at the end (a profile). */
  stop(): Promise<void>;
}

const readyTimeoutMs = 60_000;
const stopTimeoutMs = 30_000;

/** Starts a service as the stack describes it, but for these arguments of Node; the caller stops it. */
export async function startService(
  description: ManagedProcess,
  nodeArguments: readonly string[] = [],
): Promise<ServiceProcess> {
  await description.prepare();
  const log = openSync(description.logFile, 'a');
  const named = new Set(nodeArguments.map((one) => one.split('=', 1)[0]));
  const kept = description.args.filter((one) => !named.has(one.split('=', 1)[0]));
  const child = spawn(description.command, [...nodeArguments, ...kept], {
    cwd: description.cwd,
    env: { ...description.env },
    stdio: ['pipe', log, log],
  });
  closeSync(log);
  const ended = new Promise<void>((resolve) => {
    child.once('exit', () => resolve());
    child.once('error', () => resolve());
  });
  const stop = async () => {
    child.kill('SIGTERM');
    const timer = setTimeout(() => child.kill('SIGKILL'), stopTimeoutMs);
    await ended;
    clearTimeout(timer);
  };
  const deadline = performance.now() + readyTimeoutMs;
  for (;;) {
    try {
      await description.ready();
      if (child.pid !== undefined) return { pid: child.pid, stop };
    } catch (cause) {
      const isOver = child.exitCode !== null || performance.now() > deadline;
      if (!isOver) {
        await sleep(100);
        continue;
      }
      await stop();
      throw new Error(`${description.name} was not ready; its log is ${description.logFile}`, {
        cause,
      });
    }
  }
}
