import { createWriteStream } from 'node:fs';
import { rm } from 'node:fs/promises';
import type { IncomingMessage } from 'node:http';
import { join } from 'node:path';
import { type Readable, Transform, Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import { EngineError, frontError } from './engine-error.ts';

/** Rows of an INSERT, kept in a file while the engine reads them. */
export interface SpooledRows {
  readonly file: string;
  readonly byteCount: number;
  remove(): Promise<void>;
}

/**
 * Reads request bodies, unpacked and bounded: a statement into memory, rows into a file. The engine reads rows from
 * that file (FROM INFILE), since rows inside the SQL text are cut at the first `;` after a line end, and the rest is
 * run as a statement. Measured: that drops tables.
 */
export class BodyReader {
  readonly #folder: string;
  readonly #maxBytes: number;
  #files = 0;

  /** @param maxBytes of a body once unpacked. */
  constructor(folder: string, maxBytes: number) {
    this.#folder = folder;
    this.#maxBytes = maxBytes;
  }

  async readAll(request: IncomingMessage): Promise<Buffer> {
    const chunks: Buffer[] = [];
    if (codingOf(request) === plainCoding) {
      await this.#collect(request, chunks);
    } else {
      const sink = new Writable({
        write: (chunk: Buffer, _encoding, done) => {
          chunks.push(chunk);
          done();
        },
      });
      await this.#receive(request, sink);
    }
    return chunks.length === 1 && chunks[0] !== undefined ? chunks[0] : Buffer.concat(chunks);
  }

  /** @param head rows that came with the statement itself; they go first. */
  async spool(head: Buffer, request: IncomingMessage | undefined): Promise<SpooledRows> {
    this.#files += 1;
    const file = join(this.#folder, `rows-${this.#files}`);
    const remove = (): Promise<void> => rm(file, { force: true });
    try {
      const sink = createWriteStream(file);
      if (head.length > 0) sink.write(head);
      let byteCount = head.length;
      if (request === undefined) await endOf(sink);
      else byteCount += await this.#receive(request, sink);
      return { file, byteCount, remove };
    } catch (error) {
      await remove();
      throw error;
    }
  }

  /**
   * Statements mostly come plain and in one piece: a pipeline of streams would cost more than the engine's work on a
   * small one.
   */
  #collect(request: IncomingMessage, chunks: Buffer[]): Promise<void> {
    let byteCount = 0;
    return new Promise((resolve, reject) => {
      request.on('data', (chunk: Buffer) => {
        byteCount += chunk.length;
        if (byteCount <= this.#maxBytes) {
          chunks.push(chunk);
          return;
        }
        request.pause();
        reject(this.#tooLarge());
      });
      request.once('end', resolve);
      request.once('error', (error) => reject(unreadable(error)));
    });
  }

  #tooLarge(): EngineError {
    return frontError('QUERY_IS_TOO_LARGE', `The body is larger than ${this.#maxBytes} bytes.`);
  }

  /** @returns bytes after unpacking. */
  async #receive(request: IncomingMessage, sink: Writable): Promise<number> {
    let byteCount = 0;
    const limit = new Transform({
      transform: (chunk: Buffer, _encoding, done) => {
        byteCount += chunk.length;
        if (byteCount <= this.#maxBytes) done(null, chunk);
        else done(this.#tooLarge());
      },
    });
    try {
      const unpack = unpackerFor(request);
      if (unpack === undefined) await pipeline(request, limit, sink);
      else await pipeline(request as Readable, unpack, limit, sink);
    } catch (error) {
      if (error instanceof EngineError) throw error;
      throw unreadable(error);
    }
    return byteCount;
  }
}

function unreadable(error: unknown): EngineError {
  return frontError('CANNOT_PARSE_TEXT', `The body cannot be read: ${String(error)}.`);
}

const plainCoding = 'identity';

function codingOf(request: IncomingMessage): string {
  const coding = request.headers['content-encoding'] ?? '';
  return coding === '' ? plainCoding : coding;
}

function unpackerFor(request: IncomingMessage): Transform | undefined {
  const coding = codingOf(request);
  if (coding === plainCoding) return undefined;
  if (coding === 'gzip') return createGunzip();
  if (coding === 'deflate') return createInflate();
  if (coding === 'br') return createBrotliDecompress();
  throw frontError('NOT_IMPLEMENTED', `Unknown compression method: ${coding}.`);
}

function endOf(sink: Writable): Promise<void> {
  return new Promise((resolve, reject) => {
    sink.once('error', reject);
    sink.end(resolve);
  });
}
