import { join } from 'node:path';
import { fileFacts } from '@pm/deploy/local/file-facts';
import { messageOf, systemCodeOf } from '@pm/deploy/local/stack-error';
import type { Table } from '@pm/schemas/tables/create-table';
import { tables } from '@pm/schemas/tables/tables';
import { ExportError } from './export-error.ts';
import { type ExportedTable, readManifest } from './manifest.ts';
import { ParquetReader } from './parquet-reader.ts';

/** Result for one file; it matches the manifest when nothing is wrong. */
export interface VerifiedTable {
  readonly table: ExportedTable;
  readonly wrong: readonly string[];
}

/**
 * Reads every file of a written day and compares length, SHA-256, rows, content hash and log positions with the
 * manifest. It needs no server. Throws `NOT_WHOLE` for a folder without a manifest.
 */
export async function verifyDay(
  folder: string,
  onTable: (verified: VerifiedTable) => void,
): Promise<readonly VerifiedTable[]> {
  const manifest = await readManifest(folder);
  if (manifest === null)
    throw new ExportError('NOT_WHOLE', `${folder} has no manifest: it is not whole`);
  const reader = await ParquetReader.open();
  try {
    const verified: VerifiedTable[] = [];
    for (const table of manifest.tables) {
      const one = { table, wrong: await wrongOf(join(folder, table.file), table, reader) };
      verified.push(one);
      onTable(one);
    }
    return verified;
  } finally {
    await reader.close();
  }
}

async function wrongOf(
  file: string,
  said: ExportedTable,
  reader: ParquetReader,
): Promise<readonly string[]> {
  const wrong: string[] = [];
  try {
    const facts = await fileFacts(file);
    if (facts.bytes !== said.bytes) wrong.push(`has ${facts.bytes} bytes, not ${said.bytes}`);
    else if (facts.sha256 !== said.sha256) wrong.push('has another SHA-256');
    const { rows, contentHash, partitions } = await reader.contentOf(file, shapeOf(said));
    if (rows !== said.rows) wrong.push(`has ${rows} rows, not ${said.rows}`);
    if (contentHash !== said.contentHash) wrong.push('has another content hash');
    if (JSON.stringify(partitions) !== JSON.stringify(said.partitions))
      wrong.push('has other places in the log');
  } catch (error) {
    if (systemCodeOf(error) === 'ENOENT') wrong.push('is missing');
    else wrong.push(error instanceof ExportError ? 'cannot be read' : messageOf(error));
  }
  return wrong;
}

/** The table when the file was written, by the manifest, not as it is declared today. */
function shapeOf({ table, columns, order }: ExportedTable): Table {
  const today = Object.values(tables).find(({ name }) => name === table);
  return { name: table, comment: '', engine: today?.engine ?? '', columns, orderBy: order };
}
