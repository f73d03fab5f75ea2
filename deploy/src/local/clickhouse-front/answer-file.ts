import { createReadStream } from 'node:fs';
import { rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import type { Statement } from './statement.ts';

/** An answer that the engine wrote into a file, since it may be larger than memory. */
export interface AnswerFile {
  readonly byteCount: number;
  read(): Readable;
  remove(): Promise<void>;
}

/** A statement changed so that its answer goes into `file`. */
export interface FiledStatement {
  readonly sql: string;
  readonly file: string;
}

/** Whoever asks for Parquet takes whole tables; everything else is bounded in memory. */
const filedFormat = 'Parquet';

/** Gives long answers a file each. */
export class AnswerFiles {
  readonly #folder: string;
  #count = 0;

  /** @param folder its path may hold nothing the engine takes for a pattern. */
  constructor(folder: string) {
    this.#folder = folder;
  }

  /** `undefined` when the answer is to be held in memory. @param text bytes that `statement` was read from. */
  filed(text: Buffer, statement: Statement): FiledStatement | undefined {
    const { verb, outputFormat, outputFormatStart: start } = statement;
    const isQuery = verb === 'SELECT' || verb === 'WITH';
    if (!isQuery || outputFormat !== filedFormat || start === undefined) return undefined;
    this.#count += 1;
    const file = join(this.#folder, `answer-${this.#count}`);
    const name = file.replaceAll('\\', '\\\\').replaceAll("'", "\\'");
    const [head, tail] = [text.toString('utf8', 0, start), text.toString('utf8', start)];
    return { file, sql: `${head} INTO OUTFILE '${name}' TRUNCATE COMPRESSION 'none' ${tail}` };
  }

  /** Runs what writes `file`; when that fails nothing stays. */
  async written<T>(file: string, run: () => Promise<T>): Promise<{ result: T; file: AnswerFile }> {
    const remove = (): Promise<void> => rm(file, { force: true });
    try {
      const result = await run();
      const { size: byteCount } = await stat(file);
      return { result, file: { byteCount, read: () => createReadStream(file), remove } };
    } catch (error) {
      await remove();
      throw error;
    }
  }
}
