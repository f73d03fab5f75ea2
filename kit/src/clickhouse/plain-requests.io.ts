import {
  Agent as HttpAgent,
  type IncomingMessage,
  type RequestOptions,
  request as requestHttp,
} from 'node:http';
import { Agent as HttpsAgent, request as requestHttps } from 'node:https';
import { urlToHttpOptions } from 'node:url';
import { parseError } from '@clickhouse/client';
import { Fault } from '../fault/index.ts';
import { parameterText, type QueryParameter } from './parameters.ts';
import { Semaphore } from './semaphore.io.ts';

export interface PlainRequestsOptions {
  readonly url: string;
  readonly database: string;
  readonly user: string;
  readonly password: string;
  /** Certificates of authorities for https, PEM. */
  readonly ca?: string;
  /** Longest silence of the server, milliseconds. */
  readonly timeoutMs: number;
  /** Sockets to the server. */
  readonly maxSockets: number;
  /** Longest wait for one of them, milliseconds. */
  readonly socketWaitMs: number;
  /** Idle sockets are closed after this, milliseconds; less than the server keeps them. */
  readonly idleMs: number;
  /** Settings of every statement. */
  readonly settings: Readonly<Record<string, string | number>>;
}

/** Statements over HTTP. They reject with the server's `ClickHouseError`, an error of the socket, or a `Fault`. */
export interface PlainRequests {
  select<T>(sql: string, params: Readonly<Record<string, QueryParameter>>): Promise<readonly T[]>;
  /** Sends rows after their statement, once: a caller that retries uses a token. */
  insert(statement: string, rows: readonly Buffer[]): Promise<void>;
  close(): void;
}

/** Longest response that is kept in memory, bytes. */
const answerBytesMax = 256 << 20;
/** Statements that wait for a socket; one more is refused as busy. */
const waitingMax = 1_000;

interface Answer {
  readonly isError: boolean;
  readonly text: string;
}

interface Asked {
  /** Path with settings and parameters. */
  readonly path: string;
  readonly body: readonly (string | Buffer)[];
  /** Whether it may be sent once more over another socket. */
  readonly isRepeatable: boolean;
}

type Ask = (asked: Asked) => Promise<Answer>;

/**
 * Small reads are most of the load of query-api. The streams, timers and abort signals of the official client cost
 * more than the engine's work on such a read: 0.9 of 1.3 milliseconds of processor time, and a timer of a millisecond
 * before each (1.23.1). Of the inserts of projectors they are a fifth. So rows are read, and encoded rows sent, by
 * one plain request; other statements use the client.
 */
export function openPlainRequests(options: PlainRequestsOptions): PlainRequests {
  const { ask, close } = openSockets(options);
  const { pathname } = new URL(options.url);
  const shared = new URLSearchParams({ database: options.database });
  for (const [name, value] of Object.entries(options.settings)) shared.set(name, String(value));
  const sockets = new Semaphore({
    count: options.maxSockets,
    waitingMax,
    waitMs: options.socketWaitMs,
  });
  const answerTo = async (asked: Asked): Promise<string> => {
    const { isError, text } = await sockets.run(() => ask(asked));
    if (isError) throw parseError(text);
    return text;
  };
  return {
    async select<T>(sql: string, params: Readonly<Record<string, QueryParameter>>) {
      const search = new URLSearchParams(shared);
      for (const [name, value] of Object.entries(params))
        search.append(`param_${name}`, parameterText(value));
      const body = [`${sql}\nFORMAT JSONEachRow`];
      return rowsOf<T>(await answerTo({ path: `${pathname}?${search}`, body, isRepeatable: true }));
    },
    async insert(statement, body) {
      const search = new URLSearchParams(shared);
      search.set('query', statement);
      await answerTo({ path: `${pathname}?${search}`, body, isRepeatable: false });
    },
    close,
  };
}

function openSockets(options: PlainRequestsOptions): {
  readonly ask: Ask;
  close(): void;
} {
  const url = new URL(options.url);
  const isSecure = url.protocol === 'https:';
  const { idleMs, maxSockets } = options;
  const Agent = isSecure ? HttpsAgent : HttpAgent;
  const agent = new Agent({ keepAlive: true, maxSockets, timeout: idleMs, ...caOf(options) });
  const basic = Buffer.from(`${options.user}:${options.password}`).toString('base64');
  const { protocol, hostname, port } = urlToHttpOptions(url);
  const to: RequestOptions = {
    agent,
    protocol,
    hostname,
    port,
    method: 'POST',
    timeout: options.timeoutMs,
    headers: { Authorization: `Basic ${basic}` },
  };
  const send = isSecure ? requestHttps : requestHttp;
  let isClosed = false;
  const ask = ({ path, body, isRepeatable }: Asked): Promise<Answer> =>
    new Promise((resolve, reject) => {
      const request = send({ ...to, path });
      request.once('response', (response) => collect(response).then(resolve, reject));
      request.once('timeout', () => request.destroy(new Error('the server is silent')));
      request.on('error', (error) => {
        // The server closed an idle socket while it was reused.
        const isReset = request.reusedSocket && Reflect.get(error, 'code') === 'ECONNRESET';
        if (isReset && isRepeatable && !isClosed)
          ask({ path, body, isRepeatable: false }).then(resolve, reject);
        else reject(error);
      });
      request.setHeader('Content-Length', byteCountOf(body));
      for (const piece of body) request.write(piece);
      request.end();
    });
  const close = (): void => {
    isClosed = true;
    agent.destroy();
  };
  return { ask, close };
}

function caOf({ ca }: PlainRequestsOptions): { readonly ca?: string } {
  return ca === undefined ? {} : { ca };
}

function collect(response: IncomingMessage): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let byteCount = 0;
    response.on('data', (chunk: Buffer) => {
      byteCount += chunk.length;
      if (byteCount <= answerBytesMax) chunks.push(chunk);
      else response.destroy(new Fault('clickhouse_answer_too_large', 'stop'));
    });
    response.on('error', reject);
    response.once('end', () =>
      resolve({
        isError:
          response.statusCode !== 200 ||
          response.headers['x-clickhouse-exception-code'] !== undefined,
        text: Buffer.concat(chunks).toString(),
      }),
    );
  });
}

function byteCountOf(body: Asked['body']): number {
  return body.reduce((sum, piece) => sum + Buffer.byteLength(piece), 0);
}

/** JSONEachRow has a line end after each row and none inside a row. */
function rowsOf<T>(text: string): readonly T[] {
  const lines = text.endsWith('\n') ? text.slice(0, -1) : text;
  return lines === '' ? [] : (JSON.parse(`[${lines.replaceAll('\n', ',')}]`) as T[]);
}
