import { createReadStream } from 'node:fs';
import { rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { quoteText } from './engine-session.ts';
import type { Statement } from './statement.ts';

/** A result that the engine wrote into a file, since it may be larger than memory. */
export interface AnswerFile {
  readonly byteCount: number;
  read(): Readable;
  remove(): Promise<void>;
}

/** A statement changed so that its result goes into `file`. */
export interface FiledStatement {
  readonly sql: string;
  readonly file: string;
}

/** Queries for Parquet return whole tables; all other results are bounded in memory. */
const filedFormat = 'Parquet';

/** Writes long results into files. */
export class AnswerFiles {
  readonly #folder: string;
  #count = 0;

  /** @param folder its path must not contain pattern characters of the engine. */
  constructor(folder: string) {
    this.#folder = folder;
  }

  /** `undefined` when the result stays in memory. @param text bytes that `statement` was read from. */
  filed(text: Buffer, statement: Statement): FiledStatement | undefined {
    const { verb, outputFormat, outputFormatStart: start } = statement;
    const isQuery = verb === 'SELECT' || verb === 'WITH';
    if (!isQuery || outputFormat !== filedFormat || start === undefined) return undefined;
    this.#count += 1;
    const file = join(this.#folder, `answer-${this.#count}`);
    const [head, tail] = [text.toString('utf8', 0, start), text.toString('utf8', start)];
    return {
      file,
      sql: `${head} INTO OUTFILE ${quoteText(file)} TRUNCATE COMPRESSION 'none' ${tail}`,
    };
  }

  /** Runs the statement that writes `file`; removes the file when that fails. */
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
