/** A value bound to `{name:Type}` in a query. */
export type QueryParameter = string | number | boolean | null | readonly (string | number)[];

const escapes: Readonly<Record<string, string>> = {
  '\t': '\\t',
  '\n': '\\n',
  '\r': '\\r',
  "'": "\\'",
  '\\': '\\\\',
};

/**
 * A value as ClickHouse's HTTP interface reads it (https://clickhouse.com/docs/interfaces/http, "Queries with
 * parameters").
 */
export function parameterText(value: QueryParameter): string {
  if (value === null) return '\\N';
  if (typeof value === 'string') return escaped(value);
  if (typeof value === 'number') return numberText(value);
  if (typeof value === 'boolean') return value ? '1' : '0';
  return `[${value.map((one) => (typeof one === 'string' ? `'${escaped(one)}'` : numberText(one))).join(',')}]`;
}

function escaped(text: string): string {
  return text.replace(/[\t\n\r'\\]/g, (character) => escapes[character] ?? character);
}

function numberText(value: number): string {
  if (Number.isNaN(value)) return 'nan';
  if (Number.isFinite(value)) return String(value);
  return value > 0 ? '+inf' : '-inf';
}
