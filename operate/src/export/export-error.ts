/** Reason why a day was not written, or a folder does not match its manifest. */
export type ExportErrorCode =
  | 'BAD_ARGUMENT'
  | 'NOT_OVER'
  | 'NOT_COMPLETE'
  | 'ALREADY_WHOLE'
  | 'NOT_WHOLE'
  | 'DIFFERS'
  | 'NO_READER';

/** A fault with a message for the terminal, one line. */
export class ExportError extends Error {
  readonly code: ExportErrorCode;

  constructor(code: ExportErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'ExportError';
    this.code = code;
  }
}
