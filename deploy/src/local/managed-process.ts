/** Tells the person at the terminal what is going on; one short line per call. */
export type Progress = (line: string) => void;

/**
 * One process of the stack, described and not yet running. The supervisor is the only reader: it
 * prepares, starts, probes, watches and stops what is described here.
 */
export interface ManagedProcess {
  /** Unique in one supervisor; also what a person types. */
  readonly name: string;
  readonly command: string;
  readonly args: readonly string[];
  /** The whole environment of the process; nothing is inherited. */
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string;
  /** Output and errors are appended here. */
  readonly logFile: string;
  /** Names of processes that must be ready before this one starts, and that stop after it. */
  readonly dependsOn: readonly string[];
  /** Ports it will listen on; checked to be free before each start. */
  readonly ports: readonly number[];
  /** Started again when it dies; otherwise its death ends the whole stack. */
  readonly restart: boolean;
  readonly stopSignal: NodeJS.Signals;
  /** How long it may take to stop before its process group is killed. */
  readonly stopTimeoutMs: number;
  /** How long it may take to become ready. */
  readonly readyTimeoutMs: number;
  /** What it is expected to use once warm, for the reader of a status table. */
  readonly memoryHintBytes: number;
  /**
   * Gives it a pipe as standard input whose end means that the supervisor is gone; for processes
   * that watch it.
   */
  readonly watchesStdin: boolean;
  /** Run before each start: folders, files, one-time formatting. */
  prepare(): Promise<void>;
  /**
   * Rejects while it is not ready; asked again until `readyTimeoutMs`. Must itself end within a few
   * seconds.
   */
  ready(): Promise<void>;
}

const inheritedVariables = ['PATH', 'HOME', 'LANG', 'LC_ALL', 'TMPDIR', 'TZ', 'JAVA_HOME'] as const;

/** The few variables any process needs to run, taken from our own environment, and `extra`. */
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
