import type { ExportedTable, Manifest } from './manifest.ts';

/** One line per table: what was written, and of which time. */
export function tableLine({ table, kind, rows, bytes, takenAt }: ExportedTable): string {
  const line = `${table.padEnd(16)} ${String(rows).padStart(10)} rows ${bytes} bytes`;
  return kind === 'state' ? `${line}, as of ${takenAt}, independent of the day` : line;
}

/** Content of the folder, with a note when the day has no facts. `firstMs`: time of the first listing of a market. */
export function summaryLines(
  { day, to, from, partial, tables }: Manifest,
  { folder, firstMs }: { readonly folder: string; readonly firstMs: number | null },
): readonly string[] {
  const written = `${tables.length} tables in ${folder}`;
  const end = partial === true ? `${day} up to ${to}: ${written}` : `${day} is whole: ${written}`;
  if (firstMs === null) return [end, 'no market was listed yet: there are no facts'];
  if (Date.parse(to) > firstMs) return [end];
  const first = new Date(firstMs).toISOString();
  return [end, `${from.slice(0, 10)} is before the first record (${first}): there are no facts`];
}
