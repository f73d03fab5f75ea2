/** Equal values give equal texts: fields in order of their names, bytes as hex. */
export function textOf(value: unknown): string {
  if (Buffer.isBuffer(value)) return value.toString('hex');
  if (Array.isArray(value)) return `[${value.map(textOf).join()}]`;
  if (value === null || typeof value !== 'object') return String(value);
  const fields = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return fields.map(([name, field]) => `${name}:${textOf(field)}`).join();
}
