/** Why a day was not written, or why a folder is not what its manifest says. */
export type ExportErrorCode =
  | 'BAD_ARGUMENT'
  | 'NOT_OVER'
  | 'NOT_COMPLETE'
  | 'ALREADY_WHOLE'
  | 'NOT_WHOLE'
  | 'DIFFERS';

/** A fault in one line for the person at the terminal. */
export class ExportError extends Error {
  readonly code: ExportErrorCode;

  constructor(code: ExportErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'ExportError';
    this.code = code;
  }
}
