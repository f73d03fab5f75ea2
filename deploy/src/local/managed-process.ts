import type { Heap } from './process-end.ts';

/** Reports a step on the terminal: one short line per call, and after a failed start the end of a log. */
export type Progress = (line: string) => void;

/**
 * One process of the stack, described and not yet running. The supervisor is the only reader: it prepares,
 * starts, probes, watches and stops the process.
 */
export interface ManagedProcess {
  /** Unique in one supervisor; also the name on the command line. */
  readonly name: string;
  readonly command: string;
  readonly args: readonly string[];
  /** The whole environment of the process; nothing is inherited. */
  readonly env: Readonly<Record<string, string>>;
  /** Priority as of `nice`, 0 by default; up to 19, which runs when nothing else wants the processor. */
  readonly niceness?: number;
  readonly cwd: string;
  /** Output and errors are appended here. */
  readonly logFile: string;
  /** Names of processes that must be ready before this one starts, and that stop after it. */
  readonly dependsOn: readonly string[];
  /** Ports it will listen on; checked to be free before each start. */
  readonly ports: readonly number[];
  /** Started again when it dies; otherwise its death ends the whole stack. */
  readonly restart: boolean;
  /** One of several that do the same: `enough` of them are, and one that fails is started again for ever. */
  readonly quorum?: { readonly name: string; readonly enough: number };
  /** Group whose other members do its work while it is away; while one is ready, it is started again after a pause. */
  readonly standInGroup?: string;
  readonly stopSignal: NodeJS.Signals;
  /** How long it may take to stop before its process group is killed. */
  readonly stopTimeoutMs: number;
  /** How long it may take to become ready. */
  readonly readyTimeoutMs: number;
  /** It needs no engine and no other process: that it is ready says nothing of the others. */
  readonly standsAlone?: boolean;
  /** Heap bound that the arguments of a Node process set; absent for other processes. */
  readonly heap?: Heap;
  /** Expected memory once warm, for the status table. */
  readonly memoryHintBytes: number;
  /**
   * Its standard input is a pipe that ends with the supervisor; for processes that watch it.
   */
  readonly watchesStdin: boolean;
  /** Run before each start: folders, files, one-time formatting. */
  prepare(): Promise<void>;
  /**
   * Rejects while it is not ready; called again until `readyTimeoutMs`, and for as long as it rejects with
   * `WaitsForEngines`. Must end within a few seconds.
   */
  ready(): Promise<void>;
}

/**
 * A process is not ready because engines are away, or because of something else that takes as long as it takes, and
 * goes on by itself after that.
 */
export class WaitsForEngines extends Error {
  override readonly name = 'WaitsForEngines';
  readonly engines: readonly string[];

  constructor(engines: readonly string[]) {
    super(`waits for ${engines.join(', ')}`);
    this.engines = engines;
  }
}

const inheritedVariables = [
  'PATH',
  'HOME',
  'LANG',
  'LC_ALL',
  'TMPDIR',
  'TZ',
  'JAVA_HOME',
  'JAVA_TOOL_OPTIONS',
] as const;

/** Variables that any process needs, inherited from this one, and `extra`. */
export function processEnvironment(
  extra: Readonly<Record<string, string>> = {},
): Record<string, string> {
  const env: Record<string, string> = {};
  for (const name of inheritedVariables) {
    const value = process.env[name];
    if (value !== undefined) env[name] = value;
  }
  return { ...env, ...extra };
}

export const mebibyte = 1024 * 1024;
