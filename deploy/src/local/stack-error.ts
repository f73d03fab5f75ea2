/** Reasons why the local stack could not start or go on. */
export type StackErrorCode =
  | 'TOOL_MISSING'
  | 'FETCH_FAILED'
  | 'PORT_IN_USE'
  | 'DISK_NEARLY_FULL'
  | 'DATA_FOLDER_LOCKED'
  | 'BAD_DESCRIPTION'
  | 'NOT_BUILT'
  | 'START_FAILED'
  | 'PROCESS_DIED';

/**
 * A fault with a message for the terminal: what is wrong, and what to do about it. Callers add nothing to it.
 */
export class StackError extends Error {
  readonly code: StackErrorCode;

  constructor(code: StackErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'StackError';
    this.code = code;
  }
}

/** The message of anything thrown. */
export function messageOf(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown);
}

/** The `code` of a Node system error (`ENOENT`, `EADDRINUSE` ...), if it has one. */
export function systemCodeOf(thrown: unknown): string | undefined {
  if (typeof thrown !== 'object' || thrown === null || !('code' in thrown)) return undefined;
  return typeof thrown.code === 'string' ? thrown.code : undefined;
}
