import { open } from 'node:fs/promises';
import { operatorOf, problemIn } from '@pm/domain/operators/operators';
import type { Clock } from '@pm/kit/clock';
import { Fault } from '@pm/kit/fault';
import type { Log } from '@pm/kit/log';
import { repeatCheck } from '@pm/kit/rounds';
import { type OperatorEntry, OperatorsFile } from '@pm/schemas/operators';
import { Compile } from 'typebox/compile';

/** A change of the file counts after this at the latest, milliseconds. */
const pollMs = 1_000;
const fileMaxBytes = 256 * 1024;
const othersMayWrite = 0o022;

const form = Compile(OperatorsFile);

/**
 * The operators of a file, as the file is now: it is read again every second. While it cannot be read or is malformed
 * no operator is admitted, so that a mistake in it never keeps a removed operator.
 */
export class Operators {
  readonly #file: string;
  readonly #nowMs: () => number;
  readonly #log: Log;
  #text = '';
  #operators: readonly OperatorEntry[] | null = null;
  #poll: { close(): Promise<void> } | null = null;

  private constructor(file: string, { clock, log }: OperatorsFrame) {
    this.#file = file;
    this.#nowMs = () => clock.nowMs();
    this.#log = log;
  }

  /** Throws the `Fault` `operators_unreadable` (stop) when there is no such file or it is malformed. */
  static async open(file: string, frame: OperatorsFrame): Promise<Operators> {
    const operators = new Operators(file, frame);
    await operators.#read();
    const failure = 'the operators cannot be read: no operator is admitted';
    operators.#poll = repeatCheck(() => operators.#read(), {
      everyMs: frame.pollMs ?? pollMs,
      log: frame.log,
      failure,
    });
    return operators;
  }

  /** The operator whose token it is; null when there is none, `unreadable` while the file is not as it should be. */
  find(token: string): OperatorEntry | 'unreadable' | null {
    return this.#operators === null
      ? 'unreadable'
      : operatorOf(token, this.#operators, this.#nowMs());
  }

  async close(): Promise<void> {
    await this.#poll?.close();
  }

  async #read(): Promise<void> {
    try {
      const text = await readSmallFile(this.#file);
      if (this.#operators !== null && text === this.#text) return;
      const operators = operatorsIn(text, this.#file);
      this.#log.info({ operators: operators.map(({ name }) => name) }, 'read the operators');
      this.#operators = operators;
      this.#text = text;
    } catch (error) {
      this.#operators = null;
      throw error instanceof Fault ? error : unreadable(this.#file, { cause: error });
    }
  }
}

interface OperatorsFrame {
  readonly clock: Pick<Clock, 'nowMs'>;
  readonly log: Log;
  /** Milliseconds between two readings of the file; shorter in tests. */
  readonly pollMs?: number;
}

async function readSmallFile(file: string): Promise<string> {
  const handle = await open(file, 'r');
  try {
    const { size, mode } = await handle.stat();
    if (size > fileMaxBytes) throw new Error(`more than ${fileMaxBytes} bytes`);
    if ((mode & othersMayWrite) !== 0) throw new Error('others than its owner may write it');
    return await handle.readFile('utf8');
  } finally {
    await handle.close();
  }
}

function operatorsIn(text: string, file: string): readonly OperatorEntry[] {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    // Without the cause, whose message shows a part of the file.
    throw unreadable(file, { reason: 'it is not JSON' });
  }
  if (!form.Check(value)) {
    const [first] = form.Errors(value);
    throw unreadable(file, { reason: `${first?.instancePath ?? ''} ${first?.message ?? ''}` });
  }
  const problem = problemIn(value);
  if (problem !== null) throw unreadable(file, { reason: problem });
  return value.operators;
}

function unreadable(file: string, why: { readonly reason?: string; readonly cause?: unknown }) {
  const { reason = '', cause } = why;
  return new Fault('operators_unreadable', 'stop', { facts: { file, reason }, cause });
}
