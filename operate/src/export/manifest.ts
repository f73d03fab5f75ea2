import { readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { systemCodeOf } from '@pm/deploy/local/stack-error';
import { type Static, Type } from 'typebox';
import { Value } from 'typebox/value';
import { ExportError } from './export-error.ts';

const Count = Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER });
const Moment = Type.String({ pattern: '^\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d\\.\\d{3}Z$' });
const Place = Type.Object({ inOffset: Count, eventIndex: Count });

const PartitionRange = Type.Object({
  partition: Count,
  rows: Count,
  first: Place,
  last: Place,
});

/** Count and hash of the rows of a file. */
const FileContent = Type.Object({
  rows: Count,
  /** Sum of the hashes of all rows, decimal, modulo 2^64; 0 without rows. */
  contentHash: Type.String({ pattern: '^\\d{1,20}$' }),
  /** By partition the log positions of the rows; null for tables whose rows have none. */
  partitions: Type.Union([Type.Array(PartitionRange), Type.Null()]),
});

const ExportedTable = Type.Interface([FileContent], {
  table: Type.String(),
  /** `state`: all rows at `takenAt`, independent of the day; else the rows of the day. */
  kind: Type.Enum(['facts', 'state', 'copy']),
  file: Type.String({ pattern: '^[a-z0-9_]+\\.parquet$' }),
  takenAt: Moment,
  bytes: Count,
  sha256: Type.String({ pattern: '^[0-9a-f]{64}$' }),
  /** Sort columns of the rows. */
  order: Type.Array(Type.String()),
  columns: Type.Array(
    Type.Object({
      name: Type.String(),
      /** Type in ClickHouse. */
      type: Type.String(),
      comment: Type.String(),
    }),
  ),
});

const Complete = Type.Object({
  partition: Count,
  throughOffset: Count,
  nextInOffset: Count,
  through: Moment,
});

const Manifest = Type.Object({
  format: Type.Literal(1),
  day: Type.String({ pattern: '^\\d{4}-\\d\\d-\\d\\d$' }),
  /** The moments [from, to) of the day, or of the first part of it. */
  from: Moment,
  to: Moment,
  /** Present when the day goes on after `to`. */
  partial: Type.Optional(Type.Literal(true)),
  database: Type.String(),
  writtenAt: Moment,
  /** How far the tables were complete when the first was read (table completeness, dictionary.md). */
  completeness: Type.Array(Complete),
  tables: Type.Array(ExportedTable),
  leftOut: Type.Array(Type.Object({ table: Type.String(), why: Type.String() })),
});

/** Content of a folder with a day. A folder with a manifest is whole. */
export type Manifest = Static<typeof Manifest>;
export type ExportedTable = Static<typeof ExportedTable>;
export type FileContent = Static<typeof FileContent>;
export type PartitionRange = Static<typeof PartitionRange>;
export type Complete = Static<typeof Complete>;

const fileName = 'manifest.json';

/** Writes it whole or not at all: the text is written to another file, which is then renamed. */
export async function writeManifest(folder: string, manifest: Manifest): Promise<void> {
  const file = join(folder, fileName);
  await writeFile(`${file}.part`, `${JSON.stringify(manifest, null, 2)}\n`, { flush: true });
  await rename(`${file}.part`, file);
}

/** `null` when the folder has none. Throws `DIFFERS` for a file that is no manifest of this format. */
export async function readManifest(folder: string): Promise<Manifest | null> {
  const text = await readFile(join(folder, fileName), 'utf8').catch((error: unknown) => {
    if (systemCodeOf(error) === 'ENOENT') return null;
    throw error;
  });
  if (text === null) return null;
  const value = parsed(text);
  if (Value.Check(Manifest, value)) return value;
  throw new ExportError('DIFFERS', `${join(folder, fileName)} is no manifest of format 1`);
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
