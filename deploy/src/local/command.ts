import { spawn } from 'node:child_process';
import { messageOf } from './stack-error.ts';

/** Result of a finished command. `output` is the end of both streams. */
export interface CommandResult {
  readonly exitCode: number;
  readonly output: string;
}

export interface CommandOptions {
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
  /** Killed after this long; the exit code is then not 0. */
  readonly timeoutMs: number;
}

/** The end of a log, enough to see the reason. */
const maxOutputChars = 64 * 1024;

/** Exit code of a shell for a command that it cannot find. */
export const commandNotFound = 127;

/**
 * Runs a command to its end without a shell. Never rejects: a command that cannot start has exit
 * code 127.
 */
export function runCommand(
  command: string,
  args: readonly string[],
  options: CommandOptions,
): Promise<CommandResult> {
  return new Promise((resolve) => {
    let output = '';
    const child = spawn(command, args, {
      ...(options.cwd === undefined ? {} : { cwd: options.cwd }),
      env: options.env ?? process.env,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    // Not the `timeout` of spawn: its timer outlives a command that cannot start.
    const timer = setTimeout(() => child.kill('SIGKILL'), options.timeoutMs);
    const collect = (chunk: Buffer): void => {
      output = (output + chunk.toString('utf8')).slice(-maxOutputChars);
    };
    child.stdout.on('data', collect);
    child.stderr.on('data', collect);
    child.once('error', (error) => {
      clearTimeout(timer);
      resolve({ exitCode: commandNotFound, output: messageOf(error) });
    });
    child.once('exit', () => clearTimeout(timer));
    child.once('close', (code, signal) => {
      const reason = signal === null ? '' : `\nended by ${signal} (limit ${options.timeoutMs} ms)`;
      resolve({ exitCode: code ?? 1, output: output + reason });
    });
  });
}
