import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Table } from '@pm/schemas/tables/create-table';
import type { Session } from 'chdb';
import { ExportError } from './export-error.ts';
import type { FileContent, PartitionRange } from './manifest.ts';
import { fileContentSql, fileRangesSql, hasPlace } from './statements.ts';

/** Characters that the engine reads as a pattern of file names. */
const pattern = /[*?{}]/;

interface RangeRow {
  readonly partition: number;
  readonly rows: string;
  readonly first_in_offset: string;
  readonly first_event_index: number;
  readonly last_in_offset: string;
  readonly last_event_index: number;
}

/**
 * Reads Parquet files back with the ClickHouse engine embedded in this process, so that files can be checked
 * without a server. One process holds one engine; memory is bounded by the row groups of a file.
 */
export class ParquetReader {
  readonly #session: Session;
  readonly #folder: string;

  private constructor(session: Session, folder: string) {
    this.#session = session;
    this.#folder = folder;
  }

  /** Throws `NO_READER` where the package of the engine is not installed, as in the image unless asked for. */
  static async open(): Promise<ParquetReader> {
    const { Session } = await loadEngine();
    const folder = await mkdtemp(join(tmpdir(), 'pm-parquet-'));
    return new ParquetReader(new Session(folder), folder);
  }

  /** Count and hash of the file's rows, read as rows of `table`. Throws `DIFFERS` when that is not possible. */
  async contentOf(file: string, table: Table): Promise<FileContent> {
    if (pattern.test(file))
      throw new ExportError('BAD_ARGUMENT', `${file}: choose a folder without * ? { }`);
    try {
      const [row] = await this.#select<{ rows: string; content: string }>(
        fileContentSql(table, file),
      );
      const ranges = hasPlace(table)
        ? (await this.#select<RangeRow>(fileRangesSql(table, file))).map(rangeOf)
        : null;
      return { rows: Number(row?.rows ?? 0), contentHash: row?.content ?? '0', partitions: ranges };
    } catch (error) {
      throw new ExportError('DIFFERS', `${file} cannot be read as rows of ${table.name}`, {
        cause: error,
      });
    }
  }

  async close(): Promise<void> {
    this.#session.close();
    await rm(this.#folder, { recursive: true, force: true });
  }

  async #select<T>(sql: string): Promise<readonly T[]> {
    const result = await this.#session.queryAsync(sql, { format: 'JSONEachRow' });
    const lines = result.text().split('\n');
    return lines.filter((line) => line !== '').map((line) => JSON.parse(line) as T);
  }
}

/** Loaded on use: it has half a gigabyte. */
async function loadEngine(): Promise<typeof import('chdb')> {
  try {
    return await import('chdb');
  } catch (cause) {
    throw new ExportError('NO_READER', noReader, { cause });
  }
}

const noReader =
  'the package chdb, which reads Parquet files back, is not here: build the image with --build-arg EXPORT=on (docs/operating/containers.md)';

function rangeOf(row: RangeRow): PartitionRange {
  return {
    partition: row.partition,
    rows: Number(row.rows),
    first: { inOffset: Number(row.first_in_offset), eventIndex: row.first_event_index },
    last: { inOffset: Number(row.last_in_offset), eventIndex: row.last_event_index },
  };
}
