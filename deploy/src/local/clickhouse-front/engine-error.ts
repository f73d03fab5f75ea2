/** Error codes of ClickHouse that the front itself returns. */
export const errorCodes = {
  CANNOT_PARSE_TEXT: 6,
  BAD_ARGUMENTS: 36,
  NOT_IMPLEMENTED: 48,
  SYNTAX_ERROR: 62,
  UNKNOWN_FORMAT: 73,
  UNKNOWN_SETTING: 115,
  READONLY: 164,
  TOO_MANY_SIMULTANEOUS_QUERIES: 202,
  INTO_OUTFILE_NOT_ALLOWED: 358,
  TOO_MANY_ROWS_OR_BYTES: 396,
  ACCESS_DENIED: 497,
  AUTHENTICATION_FAILED: 516,
  QUERY_IS_TOO_LARGE: 229,
  UNKNOWN_EXCEPTION: 1002,
} as const;

type CodeName = keyof typeof errorCodes;

/**
 * An exception of ClickHouse: number, and text as `Code: N. DB::Exception: ...
 * (NAME)`.
 */
export class EngineError extends Error {
  readonly code: number;

  constructor(code: number, message: string) {
    super(message);
    this.name = 'EngineError';
    this.code = code;
  }
}

/** An exception of the front itself, in the format of a server. */
export function frontError(name: CodeName, reason: string): EngineError {
  return new EngineError(
    errorCodes[name],
    `Code: ${errorCodes[name]}. DB::Exception: ${reason} (${name})`,
  );
}

/** Turns any exception of the embedded engine into the text of a server. */
export function fromEngine(thrown: unknown): EngineError {
  if (thrown instanceof EngineError) return thrown;
  const message = tidy(thrown instanceof Error ? thrown.message : String(thrown));
  const code = /^Code: (\d+)\./.exec(message)?.[1];
  if (code !== undefined) return new EngineError(Number(code), message);
  return frontError('UNKNOWN_EXCEPTION', `${message}.`);
}

/**
 * The engine reads the rows of an INSERT from a temporary file, parses a statement to be judged in a query of its own,
 * and wraps the exception once per layer. A server does none of it.
 */
function tidy(message: string): string {
  const prefixes = /^((?:Code: \d+\. DB::Exception: )+)/.exec(message)?.[1] ?? '';
  const first = /^Code: \d+\. DB::Exception: /.exec(prefixes)?.[0] ?? '';
  return `${first}${message.slice(prefixes.length)}`
    .replace(/\(in file\/uri [^)]*\): /, '')
    .replace(': While executing File: data for INSERT was parsed from file', '')
    .replace(/: In scope SELECT formatQuerySingleLine\([\s\S]*\)\. \(/, '. (')
    .replace(/(?: \(version [^()]*\)\. \([A-Z_]+\))+$/, '');
}

// ClickHouse's own table (src/Server/HTTP/exceptionCodeToHTTPStatus.cpp), names turned into
// numbers; any other code is 500. Only 202 differs: a full queue is 503 here, so that a client
// retries.
const statusOfCodes: readonly (readonly [status: number, codes: readonly number[]])[] = [
  [400, [6, 8, 15, 25, 26, 27, 36, 37, 38, 41, 44, 53, 62, 72, 117, 123, 167, 168, 223]],
  [400, [321, 376, 427, 441, 675, 676]],
  [401, [194]],
  [403, [192, 193, 497, 512, 516]],
  [404, [46, 47, 50, 56, 60, 63, 73, 78, 81, 115, 152, 336, 511]],
  [408, [159]],
  [411, [381]],
  [413, [229]],
  [415, [779]],
  [501, [48]],
  [503, [76, 202, 209, 439]],
];

/** The HTTP status ClickHouse gives for an error code. */
export function statusOf(code: number): number {
  const row = statusOfCodes.find(([, codes]) => codes.includes(code));
  return row === undefined ? 500 : row[0];
}
