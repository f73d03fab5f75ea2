import { closeSync, openSync, writeSync } from 'node:fs';
import { Agent, createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { tables } from '@pm/schemas/tables/tables';

/** One insert as it went over the wire; its body lies in the file of the recording. */
export interface RecordedInsert {
  readonly table: string;
  /** Path and query: the statement with its token, and all settings. The database is left out. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly from: number;
  readonly to: number;
  readonly rows: number;
}

export interface Recording {
  readonly file: string;
  readonly inserts: readonly RecordedInsert[];
}

const tableNames = new Set(Object.values(tables).map(({ name }) => name));
/** Headers of the client; the others belong to a connection. */
const keptHeaders = ['authorization', 'content-type', 'accept-encoding'];
const lineEnd = '\n'.charCodeAt(0);

/** A proxy of ClickHouse that records every insert into a table of the projection, byte for byte. */
export class Recorder {
  readonly #target: URL;
  readonly #agent = new Agent({ keepAlive: true });
  readonly #server = createServer((incoming, answer) => {
    this.#pass(incoming, answer).catch((error: unknown) => {
      console.error('the recorder:', error);
      answer.destroy();
    });
  });
  readonly #file: string;
  readonly #output: number;
  readonly #inserts: RecordedInsert[] = [];
  #bytes = 0;

  constructor(clickhouseUrl: string, file: string) {
    this.#target = new URL(clickhouseUrl);
    this.#file = file;
    this.#output = openSync(file, 'w');
  }

  async listen(): Promise<string> {
    await new Promise<void>((resolve) => {
      this.#server.listen(0, '127.0.0.1', resolve);
    });
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** The recorded inserts; from now on no request is forwarded. */
  async end(): Promise<Recording> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => {
      this.#server.close(resolve);
    });
    this.#agent.destroy();
    closeSync(this.#output);
    return { file: this.#file, inserts: this.#inserts };
  }

  async #pass(incoming: IncomingMessage, answer: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of incoming) chunks.push(chunk as Buffer);
    const body = Buffer.concat(chunks);
    this.#record(incoming, body);
    await new Promise<void>((resolve, reject) => {
      const { hostname: host, port } = this.#target;
      // The engine takes requests to its own address only.
      const { 'transfer-encoding': _, host: __, ...headers } = incoming.headers;
      const passed = request(
        {
          host,
          port,
          agent: this.#agent,
          method: incoming.method,
          path: incoming.url,
          headers: { ...headers, 'content-length': body.length },
        },
        (response) => {
          answer.writeHead(response.statusCode ?? 502, response.headers);
          response.pipe(answer).once('close', resolve);
        },
      );
      passed.once('error', reject);
      passed.end(body);
    });
  }

  #record({ url = '', headers }: IncomingMessage, body: Buffer): void {
    const address = new URL(url, 'http://recorder');
    const table = /^INSERT INTO (\w+) \(/.exec(address.searchParams.get('query') ?? '')?.[1];
    if (table === undefined || !tableNames.has(table)) return;
    for (const own of ['database', 'query_id']) address.searchParams.delete(own);
    const kept = keptHeaders.flatMap((name) => {
      const value = headers[name];
      return typeof value === 'string' ? [[name, value] as const] : [];
    });
    writeSync(this.#output, body);
    this.#inserts.push({
      table,
      path: `${address.pathname}${address.search}`,
      headers: Object.fromEntries(kept),
      from: this.#bytes,
      to: this.#bytes + body.length,
      rows: linesOf(body),
    });
    this.#bytes += body.length;
  }
}

function linesOf(body: Buffer): number {
  let lines = 0;
  for (let at = body.indexOf(lineEnd); at >= 0; at = body.indexOf(lineEnd, at + 1)) lines += 1;
  return lines;
}

/** The whole response of a request; throws unless it is 200. */
export async function answered(response: IncomingMessage): Promise<void> {
  const said = await text(response);
  if (response.statusCode !== 200) throw new Error(`${response.statusCode}: ${said}`);
}
