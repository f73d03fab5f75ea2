/** Names under which clients of the family put what a frame is. */
const kindNames = ['type', 'op', 'operation', 'action', 'event', 'method'] as const;

/** Whether a text is a ping in any of its forms: the word alone, with a line end, as a JSON text, or as a frame. */
export function isPing(text: string): boolean {
  if (text.length > pingMaxChars) return false;
  if (/^\s*"?ping"?\s*$/i.test(text)) return true;
  const frame = readObject(text);
  return frame !== null && kindNames.some((name) => saysPing(Reflect.get(frame, name)));
}

const pingMaxChars = 100;

function saysPing(value: unknown): boolean {
  return typeof value === 'string' && value.toLowerCase() === 'ping';
}

/** Reads a text as a JSON object; null when it is none. */
export function readObject(text: string): object | null {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : null;
  } catch {
    return null;
  }
}
