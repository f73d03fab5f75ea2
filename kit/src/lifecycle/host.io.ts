import { fstatSync } from 'node:fs';
import { readParentPipe, readServiceLinks } from '../config/index.ts';

/** The process as the lifecycle uses it; tests pass a double. */
export interface ProcessHost {
  /** Calls back at SIGTERM and SIGINT. */
  onSignal(stop: (signal: string) => void): void;
  /** Calls back when the parent, whose pipe is our standard input, has ended; only when the parent asked for it. */
  onParentGone(stop: () => void): void;
  /** Calls back at uncaught exceptions and unhandled rejections. */
  onUncaught(fail: (error: unknown) => void): void;
  /** Names of the variables that Kubernetes has set for Services. */
  serviceLinks(): readonly string[];
  /** One line for people, on standard error. */
  complain(line: string): void;
  exit(code: number): void;
}

const standardInput = 0;

/** This process. */
export const processHost: ProcessHost = {
  onSignal(stop) {
    for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => stop(signal));
  },
  onParentGone(stop) {
    if (!readParentPipe() || !stdinIsPipe()) return;
    process.stdin.on('end', stop).on('close', stop).on('error', stop).resume();
  },
  onUncaught(fail) {
    process.on('uncaughtException', fail);
    process.on('unhandledRejection', fail);
  },
  serviceLinks: () => readServiceLinks(),
  complain(line) {
    process.stderr.write(`${line}\n`);
  },
  exit(code) {
    process.exit(code);
  },
};

/** Node gives children a socket pair where a shell gives a pipe. */
function stdinIsPipe(): boolean {
  try {
    const stat = fstatSync(standardInput);
    return stat.isFIFO() || stat.isSocket();
  } catch {
    return false;
  }
}
