import { once } from 'node:events';
import { createWriteStream, type WriteStream } from 'node:fs';
import { mkdir, readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { insist } from '@pm/deploy/installation/retry-budget';
import { fileFacts } from '@pm/deploy/local/file-facts';
import { lockFolder } from '@pm/deploy/local/run-lock';
import type { ClickHouse } from '@pm/kit/clickhouse';
import { completePart, requireComplete } from './completeness.ts';
import type { Day } from './day.ts';
import { ExportError } from './export-error.ts';
import { type ExportedTable, type Manifest, readManifest, writeManifest } from './manifest.ts';
import { ParquetReader } from './parquet-reader.ts';
import type { ExportPlan, PlannedTable } from './plan.ts';
import { orderOf, rowsSql, tableContentSql } from './statements.ts';

export interface ExportOptions {
  readonly clickhouse: Pick<ClickHouse, 'selectRows' | 'copyTo'>;
  readonly database: string;
  /** Partitions of `executions`: all of them must be complete. */
  readonly partitions: readonly number[];
  readonly day: Day;
  /** Writes the complete part of a day that is not complete. */
  readonly isPartial: boolean;
  readonly plan: ExportPlan;
  /** Folder of the files; created when it is missing. */
  readonly folder: string;
  /** Whether a whole folder may be written again. */
  readonly again: boolean;
  onTable(written: ExportedTable): void;
}

/**
 * Writes a day, or its complete part: a Parquet file per planned table, each read back and compared with its table,
 * then the manifest. A folder with a manifest is whole even after an interruption, and the same call writes the day
 * again.
 *
 * Throws an `ExportError`: `NOT_COMPLETE`, `BAD_ARGUMENT`, `ALREADY_WHOLE`, `DIFFERS`, `NO_READER`; and the faults of
 * ClickHouse.
 */
export async function exportDay(options: ExportOptions): Promise<Manifest> {
  const { folder } = options;
  const lock = await lockFolder({
    folder,
    file: '.export.lock',
    busy: (pid) => new ExportError('BAD_ARGUMENT', `process ${pid} writes ${folder} already`),
  });
  try {
    if (!options.again && (await readManifest(folder)) !== null)
      throw new ExportError('ALREADY_WHOLE', `${folder} is whole: --again writes it again`);
    const { isPartial } = options;
    const { day, completeness } = await (isPartial ? completePart : requireComplete)(options);
    const tables = await writeTables({ ...options, day });
    const manifest: Manifest = {
      format: 1,
      day: day.name,
      from: momentOf(day.fromMs),
      to: momentOf(day.toMs),
      ...(isPartial ? { partial: true } : {}),
      database: options.database,
      writtenAt: momentOf(Date.now()),
      completeness: [...completeness],
      tables,
      leftOut: [...options.plan.leftOut],
    };
    await writeManifest(folder, manifest);
    return manifest;
  } finally {
    lock.release();
  }
}

/** Removes the files of an earlier run, the manifest first; other files stay. */
async function clear(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true });
  await rm(join(folder, 'manifest.json'), { force: true });
  for (const name of await readdir(folder))
    if (/^([a-z0-9_]+\.parquet|manifest\.json)(\.part)?$/.test(name))
      await rm(join(folder, name), { force: true });
}

async function writeTables(options: ExportOptions): Promise<ExportedTable[]> {
  const reader = await ParquetReader.open();
  try {
    await clear(options.folder);
    const written: ExportedTable[] = [];
    for (const planned of options.plan.planned) {
      const table = await writeTable(options, planned, reader);
      written.push(table);
      options.onTable(table);
    }
    return written;
  } finally {
    await reader.close();
  }
}

async function writeTable(
  { clickhouse, day, folder }: ExportOptions,
  planned: PlannedTable,
  reader: ParquetReader,
): Promise<ExportedTable> {
  const { table, kind, condition } = planned;
  const params = condition === null ? {} : { from: day.fromMs, to: day.toMs };
  const file = `${table.name}.parquet`;
  const part = join(folder, `${file}.part`);
  const takenAt = momentOf(Date.now());
  await fetchTo(part, (sink) => clickhouse.copyTo(sink, rowsSql(planned), params));
  const content = await reader.contentOf(part, table);
  if (kind !== 'state') {
    const sql = tableContentSql(planned);
    const [found] = await insist(() =>
      clickhouse.selectRows<{ rows: string; content: string }>(sql, params),
    );
    if (found?.content !== content.contentHash || Number(found.rows) !== content.rows)
      throw new ExportError('DIFFERS', `${part} differs from table ${table.name}: try again`);
  }
  const facts = await fileFacts(part);
  await rename(part, join(folder, file));
  return {
    table: table.name,
    kind,
    file,
    takenAt,
    ...facts,
    ...content,
    order: [...orderOf(table)],
    columns: table.columns.map(({ name, type, comment }) => ({ name, type, comment })),
  };
}

/** Writes the file; starts again from its first byte while the server is busy. */
async function fetchTo(file: string, copy: (sink: WriteStream) => Promise<void>): Promise<void> {
  await insist(async () => {
    const sink = createWriteStream(file, { flush: true });
    await copy(sink).finally(() => closed(sink));
  });
}

/** Resolves when nothing is written to the file any more, so it may be read or started again. */
async function closed(sink: WriteStream): Promise<void> {
  if (sink.closed) return;
  sink.destroy();
  await once(sink, 'close');
}

function momentOf(ms: number): string {
  return new Date(ms).toISOString();
}
