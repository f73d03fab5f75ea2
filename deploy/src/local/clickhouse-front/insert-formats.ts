import { frontError } from './engine-error.ts';

/**
 * Formats of rows that may be inserted here: text formats that are tested with this engine.
 */
const textFormats = new Set([
  'JSONEachRow',
  'JSONCompactEachRow',
  'JSONCompactEachRowWithNames',
  'JSONCompactEachRowWithNamesAndTypes',
  'JSONStringsEachRow',
  'JSONCompactStringsEachRow',
  'JSONLines',
  'NDJSON',
  'TabSeparated',
  'TabSeparatedRaw',
  'TabSeparatedWithNames',
  'TabSeparatedWithNamesAndTypes',
  'TSV',
  'TSVRaw',
  'TSVWithNames',
  'TSVWithNamesAndTypes',
  'CSV',
  'CSVWithNames',
  'CSVWithNamesAndTypes',
  'CustomSeparated',
  'Values',
  'LineAsString',
  'JSONAsString',
]);

/**
 * @throws EngineError 73 for a binary format; a real server accepts it, so the text names an alternative.
 */
export function requireTextFormat(format: string): void {
  if (textFormats.has(format)) return;
  throw frontError(
    'UNKNOWN_FORMAT',
    `Format ${format} is not supported for input by this local server: use a text format such as JSONCompactEachRow.`,
  );
}

const contentTypes: readonly (readonly [RegExp, string])[] = [
  [/^JSON\w*EachRow|^JSONLines$|^NDJSON$/, 'application/x-ndjson; charset=UTF-8'],
  [/^JSON/, 'application/json; charset=UTF-8'],
  [/^CSV/, 'text/csv; charset=UTF-8; header=absent'],
  [/^(TabSeparated|TSV)/, 'text/tab-separated-values; charset=UTF-8'],
  [/^(RowBinary|Native|Arrow|Parquet|ORC|Avro)/, 'application/octet-stream'],
];

export function contentTypeOf(format: string): string {
  return contentTypes.find(([names]) => names.test(format))?.[1] ?? 'text/plain; charset=UTF-8';
}
