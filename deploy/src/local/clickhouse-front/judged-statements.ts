import { randomUUID } from 'node:crypto';
import { frontError } from './engine-error.ts';
import { type EngineSession, quoteText, type Role, rowsClause } from './engine-session.ts';
import { type Token, tokensOf } from './statement.ts';

/** First words of statements that only read. */
const readingWords = new Set(['SELECT', 'WITH', 'SHOW', 'DESCRIBE', 'EXISTS', 'EXPLAIN', '(']);

/** Table functions that read no file and connect to nothing, in lower case. */
const readingTableFunctions = new Set([
  'format',
  'generate_series',
  'generateseries',
  'null',
  'numbers',
  'numbers_mt',
  'primes',
  'values',
  'view',
  'zeros',
  'zeros_mt',
]);

/**
 * Functions that read files of the machine or call others, which no right of the engine covers. They are refused
 * wherever their name stands: `arrayMap` and `APPLY` take a name without parentheses.
 */
const refusedFunction = /^(file|catboostevaluate|ai(classify|embed|extract|generate|translate))$/;

/** Settings that a reader may set: limits, and the format of results. None of them names a file or is itself SQL. */
const readerSettings: ReadonlySet<string> = new Set([
  'add_http_cors_header',
  'cancel_http_readonly_queries_on_client_close',
  'compile_expressions',
  'date_time_input_format',
  'date_time_output_format',
  'do_not_merge_across_partitions_select_final',
  'enable_http_compression',
  'extremes',
  'final',
  'format_csv_delimiter',
  'group_by_overflow_mode',
  'group_by_use_nulls',
  'join_use_nulls',
  'limit',
  'log_comment',
  'max_block_size',
  'max_bytes_before_external_group_by',
  'max_bytes_before_external_sort',
  'max_bytes_ratio_before_external_sort',
  'max_bytes_to_read',
  'max_execution_time',
  'max_memory_usage',
  'max_result_bytes',
  'max_result_rows',
  'max_rows_to_read',
  'max_threads',
  'offset',
  'optimize_move_to_prewhere',
  'output_format_json_array_of_rows',
  'output_format_json_escape_forward_slashes',
  'output_format_json_named_tuples_as_objects',
  'output_format_json_quote_64bit_floats',
  'output_format_json_quote_64bit_integers',
  'output_format_json_quote_decimals',
  'output_format_json_quote_denormals',
  'output_format_parquet_compression_method',
  'output_format_parquet_fixed_string_as_fixed_byte_array',
  'output_format_parquet_parallel_encoding',
  'output_format_parquet_row_group_size',
  'output_format_parquet_string_as_string',
  'output_format_pretty_color',
  'output_format_pretty_max_rows',
  'output_format_pretty_row_numbers',
  'prefer_column_name_to_alias',
  'prefer_external_sort_block_bytes',
  'read_overflow_mode',
  'result_overflow_mode',
  'send_progress_in_http_headers',
  'session_timezone',
  'sort_overflow_mode',
  'timeout_overflow_mode',
  'use_query_cache',
]);

/** Statements that were found to be permitted, so that a service asks once; longer ones are read again each time. */
const rememberedMax = 1_000;
const rememberedMaxLength = 8_192;

/** One statement with what its request sets. */
export interface JudgedQuery {
  readonly sql: string;
  /** The literal in `sql` that names the file of the front. */
  readonly file: string | undefined;
  readonly settings: ReadonlyMap<string, string>;
  readonly parameters: ReadonlyMap<string, string>;
}

/** Table functions and settings of an engine that readers may not use, in lower case. */
interface Refused {
  readonly tableFunctions: ReadonlySet<string>;
  readonly settings: ReadonlySet<string>;
}

/**
 * Refuses statements that callers may not ask. Each is judged in the text that the engine itself makes of it after
 * parsing: comments, quotes and escapes of any kind hide no name there. No role names a file but the front itself: the
 * engine opens files as a client does, without a right for it.
 */
export class JudgedStatements {
  readonly #open: () => Promise<EngineSession>;
  /**
   * Names a file of the front in a statement to be judged, since each request has a file of its own. Random: where the
   * front and the engine read a statement differently, the file that the engine sees may be one that the caller names.
   */
  readonly #file = quoteText(randomUUID());
  readonly #permitted = new Set<string>();
  #session: Promise<EngineSession> | null = null;
  #refused: Refused | null = null;
  /** A session runs one query after the other. */
  #asked: Promise<unknown> = Promise.resolve();

  /** @param open a session of its own, in which nothing is set. */
  constructor(open: () => Promise<EngineSession>) {
    this.#open = open;
  }

  /**
   * @throws EngineError 358 for a file that is not of the front; of a reader also 164 for a statement that does more
   *   than read, or sets what readers may not, and 497 for a function that they may not call; 62 for a statement that
   *   the engine cannot parse, or whose rows the front has not found.
   */
  async require(role: Role, { sql, file, settings, parameters }: JudgedQuery): Promise<void> {
    if (role === 'reader') {
      for (const name of settings.keys()) requireReaderSetting(name);
      for (const value of parameters.values()) requireReaderParameter(value);
    }
    const hasFile = file !== undefined;
    const judged = hasFile ? sql.replaceAll(file, this.#file) : sql;
    const asked = `${role}${hasFile ? '+' : '-'}${judged}`;
    if (this.#permitted.has(asked) || (role === 'writer' && this.#isPlainInsert(judged))) return;
    const written = await this.#ask(`SELECT formatQuerySingleLine(${quoteText(judged)})`);
    const tokens = [...tokensOf(written.toString('latin1'))];
    if (role === 'reader') requireReading(tokens, await this.#refusedNames());
    requireKnownFiles(tokens, hasFile ? this.#file : null);
    if (judged.length > rememberedMaxLength) return;
    if (this.#permitted.size >= rememberedMax) this.#permitted.clear();
    this.#permitted.add(asked);
  }

  /**
   * An INSERT with rows of the front in which nothing hides: services send one with each batch of rows, and each has
   * a token of its own, so that none could be remembered.
   */
  #isPlainInsert(judged: string): boolean {
    const parts = judged.split(rowsClause(this.#file));
    if (parts.length !== 2 || !judged.startsWith('INSERT INTO ')) return false;
    return parts.every((part) => plainText.test(part) && !/\b(?:in|out)file\b/i.test(part));
  }

  async close(): Promise<void> {
    await this.#asked;
    (await this.#session)?.close();
  }

  async #refusedNames(): Promise<Refused> {
    this.#refused ??= {
      tableFunctions: await this.#namesOf('table_functions', readingTableFunctions),
      settings: await this.#namesOf('settings', readerSettings),
    };
    return this.#refused;
  }

  async #namesOf(table: string, permitted: ReadonlySet<string>): Promise<ReadonlySet<string>> {
    const lines = await this.#ask(`SELECT lower(name) FROM system.${table}`);
    const names = lines.toString('utf8').trim().split('\n');
    return new Set(names.filter((name) => !permitted.has(name)));
  }

  async #ask(sql: string): Promise<Buffer> {
    this.#session ??= this.#open();
    const session = await this.#session;
    const asked = this.#asked.then(() => session.run(sql, 'TSVRaw'));
    this.#asked = asked.catch(() => undefined);
    return Buffer.from((await asked).bytes);
  }
}

/** Text in which the front and the engine see the same words: no comments, escapes and further kinds of quotes. */
const plainText = /^(?:[\w \t\r\n(),.=]|'[^'\\]*'|`[^`\\]*`)*$/;

/**
 * Refuses files that are not of the front, and rows that it has not found: the engine's text lacks them and what comes
 * after them, which would run as a statement.
 */
function requireKnownFiles(tokens: readonly Token[], file: string | null): void {
  const named = tokens.filter((_, index) => namesFile(tokens, index)).map(({ text }) => text);
  if (named.join() !== (file ?? ''))
    throw frontError(
      'INTO_OUTFILE_NOT_ALLOWED',
      'INTO OUTFILE and FROM INFILE are not allowed over HTTP.',
    );
  const hasRows = tokens.some(beginsInsert) && tokens.some(({ text }) => text === 'FORMAT');
  if (hasRows && file === null)
    throw frontError('SYNTAX_ERROR', 'Syntax error: the rows of this INSERT cannot be found.');
}

/** The token follows `INTO OUTFILE` or `FROM INFILE`. */
function namesFile(tokens: readonly Token[], index: number): boolean {
  const before = tokens[index - 2]?.word;
  const kind = tokens[index - 1]?.word;
  return kind === 'OUTFILE' ? before === 'INTO' : kind === 'INFILE' && before === 'FROM';
}

function requireReading(tokens: readonly Token[], refused: Refused): void {
  if (!readingWords.has(tokens[0]?.text ?? '') || tokens.some(beginsInsert))
    throw frontError('READONLY', 'Cannot execute query in readonly mode.');
  for (const name of assignedIn(tokens)) if (refused.settings.has(name)) requireReaderSetting(name);
  for (const [index, { text }] of tokens.entries()) {
    const name = plainName(text);
    const isCalled = tokens[index + 1]?.text === '(';
    if (refusedFunction.test(name) || (isCalled && refused.tableFunctions.has(name)))
      throw refusedName(name);
  }
}

function requireReaderSetting(name: string): void {
  if (readerSettings.has(name)) return;
  throw frontError('READONLY', `Cannot modify '${name}' setting in readonly mode.`);
}

/** A parameter of type `Identifier` may name a function too. */
function requireReaderParameter(value: string): void {
  if (refusedFunction.test(plainName(value.trim()))) throw refusedName(value);
}

function refusedName(name: string): Error {
  return frontError('ACCESS_DENIED', `Not enough privileges: readers may not use ${name}.`);
}

/** A name in lower case, without its quotes. The engine quotes what needs it by backticks. */
function plainName(text: string): string {
  return text.replaceAll('`', '').toLowerCase();
}

function beginsInsert({ word }: Token, index: number, tokens: readonly Token[]): boolean {
  return word === 'INSERT' && tokens[index + 1]?.word === 'INTO';
}

/** Names in clauses `SETTINGS a = 1, b = 2`, and perhaps of columns that are compared after one. */
function assignedIn(tokens: readonly Token[]): readonly string[] {
  const begin = tokens.findIndex(({ text }) => text === 'SETTINGS');
  if (begin < 0) return [];
  const isAssigned = (_: Token, index: number) =>
    index > begin &&
    tokens[index + 1]?.text === '=' &&
    ['SETTINGS', ','].includes(tokens[index - 1]?.text ?? '');
  return tokens.filter(isAssigned).map(({ text }) => plainName(text));
}
