import { type ChildProcess, spawn } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { processEnvironment } from './managed-process.ts';
import { builtEntry } from './paths.ts';

/**
 * The watchdog has its own process group, so that it survives a kill of this one.
 */
export function startWatchdog(ledgerFile: string, dataDir: string): ChildProcess {
  mkdirSync(dataDir, { recursive: true });
  const entry = builtEntry('local/watchdog.js');
  const args = ['--max-old-space-size=32', entry, ledgerFile, String(process.pid)];
  const watchdog = spawn(process.execPath, args, {
    cwd: dataDir,
    env: processEnvironment(),
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  watchdog.on('error', () => undefined);
  watchdog.stdin.on('error', () => undefined);
  // It must not keep this process alive.
  watchdog.unref();
  return watchdog;
}
