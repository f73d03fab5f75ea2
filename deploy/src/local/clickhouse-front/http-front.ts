import {
  createServer,
  type IncomingMessage,
  type OutgoingHttpHeaders,
  type Server,
  type ServerResponse,
} from 'node:http';
import { pipeline } from 'node:stream/promises';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { guardServer } from '@pm/kit/listener';
import type { ClickhousePasswords } from '../engines/clickhouse-password.ts';
import { type AnswerFile, AnswerFiles } from './answer-file.ts';
import { BodyReader } from './body.ts';
import { refuseWebPages } from './callers.ts';
import { type EngineError, fromEngine, frontError, statusOf } from './engine-error.ts';
import { type EngineResult, quoteText, rowsClause } from './engine-session.ts';
import { contentTypeOf, requireTextFormat } from './insert-formats.ts';
import { type Query, runQuery } from './query-runner.ts';
import { type RequestOptions, readOptions } from './request.ts';
import type { SessionPool } from './session-pool.ts';
import { type InsertShape, readStatement, type Statement } from './statement.ts';

export interface FrontOptions {
  readonly pool: SessionPool;
  /** Folder for rows and long results in transit; its path must not contain pattern characters of the engine. */
  readonly rowsDir: string;
  readonly maxBodyBytes: number;
  /** Longest statement without rows. */
  readonly maxStatementBytes: number;
  /** Largest result in memory. */
  readonly maxResultBytes: number;
  /** Version of the engine, the end of its error texts. */
  readonly version: string;
  readonly timezone: string;
  /** Null lets everyone write who can connect. */
  readonly passwords: ClickhousePasswords | null;
}

/** Longest address with its parameters, as `http_max_uri_size` of a server. */
const maxAddressBytes = 1_048_576;

/** Lifetime of an idle connection; clients close it after 2.5 s, before the server does. */
const keepAliveMs = 10_000;

const compress = promisify(gzip);

/**
 * The part of ClickHouse's HTTP interface that our services use, over the embedded engine.
 * https://clickhouse.com/docs/interfaces/http
 */
export function createFront(options: FrontOptions): Server {
  const bodies = new BodyReader(options.rowsDir, options.maxBodyBytes);
  const answers = new AnswerFiles(options.rowsDir);
  const server = createServer({ maxHeaderSize: maxAddressBytes }, (request, response) => {
    route(request, response, { ...options, bodies, answers }).catch((error: unknown) => {
      console.error('a response could not be sent', error);
      response.destroy();
    });
  });
  guardServer(server);
  server.keepAliveTimeout = keepAliveMs;
  return server;
}

interface FrontContext extends FrontOptions {
  readonly bodies: BodyReader;
  readonly answers: AnswerFiles;
}

async function route(
  request: IncomingMessage,
  response: ServerResponse,
  context: FrontContext,
): Promise<void> {
  try {
    refuseWebPages(request);
  } catch (error) {
    await sendError(response, undefined, { error: fromEngine(error), context, request });
    return;
  }
  const url = new URL(request.url ?? '/', 'http://localhost');
  const isCheck = url.pathname === '/ping' || url.pathname === '/replicas_status';
  if (
    isCheck ||
    (url.pathname === '/' && request.method === 'GET' && !url.searchParams.has('query'))
  ) {
    response.end('Ok.\n');
    return;
  }
  if (url.pathname !== '/') {
    response.writeHead(404, { 'Content-Type': 'text/plain; charset=UTF-8' });
    response.end(`There is no handle ${url.pathname}\n\nUse / or /ping for health checks.\n`);
    return;
  }
  await answerQuery(request, response, { context, url });
}

async function answerQuery(
  request: IncomingMessage,
  response: ServerResponse,
  { context, url }: { context: FrontContext; url: URL },
): Promise<void> {
  let options: RequestOptions | undefined;
  let answer: Answer | undefined;
  try {
    options = readOptions(request, url, context.passwords);
    answer = await execute(request, options, context);
    await send(response, options, { ...answer, timezone: context.timezone });
  } catch (error) {
    if (response.headersSent) throw error;
    await sendError(response, options, { error: fromEngine(error), context, request });
  } finally {
    await answer?.file?.remove();
  }
}

interface Answer {
  readonly result: EngineResult;
  readonly format: string;
  readonly isInsert: boolean;
  /** The result, when it is not in `result`. */
  readonly file?: AnswerFile;
}

/** Runs a request: checks its statement, stores its rows, executes. */
async function execute(
  request: IncomingMessage,
  options: RequestOptions,
  context: FrontContext,
): Promise<Answer> {
  const inAddress = readStatement(Buffer.from(options.query, 'utf8').toString('latin1'));
  if (hasRows(inAddress)) {
    const text = Buffer.from(options.query, 'utf8');
    return insertRows(text, inAddress, { options, context, body: request });
  }
  const body = await context.bodies.readAll(request);
  const text = Buffer.concat([Buffer.from(options.query, 'utf8'), body]);
  const statement = readStatement(text.toString('latin1', 0, context.maxStatementBytes));
  if (hasRows(statement)) {
    return insertRows(text, statement, { options, context, body: undefined });
  }
  requireOneStatement(statement, text, context);
  const format = statement.outputFormat ?? options.format;
  const run = (sql: string, file?: string): Promise<EngineResult> => {
    const query = queryOf(options, statement, { sql, file });
    return context.pool.use(options.role, (lease) => runQuery(lease, query));
  };
  const filed = context.answers.filed(text, statement);
  if (filed !== undefined) {
    const written = await context.answers.written(filed.file, () => run(filed.sql, filed.file));
    return { ...written, format, isInsert: false };
  }
  const result = await run(text.toString('utf8'));
  if (result.bytes.byteLength > context.maxResultBytes) {
    throw frontError(
      'TOO_MANY_ROWS_OR_BYTES',
      `Limit for result exceeded, max bytes: ${context.maxResultBytes}.`,
    );
  }
  return { result, format, isInsert: statement.verb === 'INSERT' };
}

function requireOneStatement(statement: Statement, text: Buffer, context: FrontContext): void {
  if (text.length > context.maxStatementBytes) {
    throw frontError(
      'SYNTAX_ERROR',
      `Max query size exceeded: ${context.maxStatementBytes} bytes.`,
    );
  }
  if (statement.verb === '') throw frontError('SYNTAX_ERROR', 'Syntax error: Empty query.');
  if (statement.hasSecondStatement) {
    throw frontError('SYNTAX_ERROR', 'Syntax error (Multi-statements are not allowed).');
  }
}

/** An INSERT with rows. */
type RowsStatement = Statement & { readonly insert: InsertShape };

function hasRows(statement: Statement): statement is RowsStatement {
  return statement.insert !== undefined;
}

interface InsertContext {
  readonly options: RequestOptions;
  readonly context: FrontContext;
  /** Rows that follow in the body; undefined when all are in `text`. */
  readonly body: IncomingMessage | undefined;
}

async function insertRows(
  text: Buffer,
  statement: RowsStatement,
  { options, context, body }: InsertContext,
): Promise<Answer> {
  const { insert } = statement;
  requireTextFormat(insert.format);
  const rows = await context.bodies.spool(text.subarray(insert.dataStart), body);
  try {
    if (rows.byteCount === 0) return { result: noResult, format: options.format, isInsert: true };
    const part = (from: number, to: number): string => text.toString('utf8', from, to);
    const target = part(0, insert.targetEnd);
    const settings = part(insert.targetEnd, insert.settingsEnd);
    const sql = `${target} ${rowsClause(quoteText(rows.file))} ${settings} FORMAT ${insert.format}`;
    const query = queryOf(options, statement, { sql, file: rows.file });
    const result = await context.pool.use(options.role, (lease) => runQuery(lease, query));
    return { result, format: options.format, isInsert: true };
  } finally {
    await rows.remove();
  }
}

const noResult: EngineResult = {
  bytes: new Uint8Array(0),
  rowsRead: 0,
  bytesRead: 0,
  elapsedSeconds: 0,
};

function queryOf(
  { format, database, settings, parameters }: RequestOptions,
  { changesSession, changesDatabases }: Statement,
  { sql, file }: { readonly sql: string; readonly file: string | undefined },
): Query {
  const named = file === undefined ? undefined : quoteText(file);
  const effects = { changesSession, changesDatabases };
  return { sql, file: named, format, database, settings, parameters, ...effects };
}

async function send(
  response: ServerResponse,
  options: RequestOptions,
  answer: Answer & { readonly timezone: string },
): Promise<void> {
  const headers: OutgoingHttpHeaders = {
    'Content-Type': contentTypeOf(answer.format),
    'X-ClickHouse-Format': answer.format,
    'X-ClickHouse-Query-Id': options.queryId,
    'X-ClickHouse-Server-Display-Name': 'pm-local',
    'X-ClickHouse-Timezone': answer.timezone,
    'X-ClickHouse-Summary': summaryOf(answer),
  };
  const { bytes } = answer.result;
  if (answer.file !== undefined) {
    response.writeHead(200, { ...headers, 'Content-Length': answer.file.byteCount });
    await pipeline(answer.file.read(), response);
    return;
  }
  if (!options.wantsGzip || bytes.byteLength === 0) {
    response.writeHead(200, { ...headers, 'Content-Length': bytes.byteLength });
    response.end(bytes);
    return;
  }
  const packed = await compress(bytes, { level: 3 });
  response.writeHead(200, {
    ...headers,
    'Content-Encoding': 'gzip',
    'Content-Length': packed.length,
  });
  response.end(packed);
}

/** Numbers as text, as ClickHouse sends them. */
function summaryOf({ result, isInsert, file }: Answer): string {
  return JSON.stringify({
    read_rows: String(result.rowsRead),
    read_bytes: String(result.bytesRead),
    written_rows: String(isInsert ? result.rowsRead : 0),
    written_bytes: String(isInsert ? result.bytesRead : 0),
    total_rows_to_read: '0',
    result_rows: String(isInsert ? result.rowsRead : 0),
    result_bytes: String(
      isInsert ? result.bytesRead : (file?.byteCount ?? result.bytes.byteLength),
    ),
    elapsed_ns: String(Math.round(result.elapsedSeconds * 1e9)),
  });
}

interface FailureContext {
  readonly error: EngineError;
  readonly context: FrontContext;
  readonly request: IncomingMessage;
}

async function sendError(
  response: ServerResponse,
  options: RequestOptions | undefined,
  { error, context, request }: FailureContext,
): Promise<void> {
  const text = Buffer.from(
    `${error.message} (version ${context.version} (official build))\n`,
    'utf8',
  );
  const headers: OutgoingHttpHeaders = {
    'Content-Type': 'text/plain; charset=UTF-8',
    'X-ClickHouse-Exception-Code': String(error.code),
    'X-ClickHouse-Server-Display-Name': 'pm-local',
    ...(options === undefined ? {} : { 'X-ClickHouse-Query-Id': options.queryId }),
    // The rest of a refused body is not read, so the connection cannot be used again.
    ...(request.complete ? {} : { Connection: 'close' }),
  };
  const packed = options?.wantsGzip === true ? await compress(text) : undefined;
  response.writeHead(statusOf(error.code), {
    ...headers,
    ...(packed === undefined ? {} : { 'Content-Encoding': 'gzip' }),
    'Content-Length': (packed ?? text).length,
  });
  response.end(packed ?? text);
}
