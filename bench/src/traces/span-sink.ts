import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A receiver of traces that counts spans and keeps none. */
export interface SpanSink {
  readonly url: string;
  /** Received so far. */
  readonly spans: number;
  close(): Promise<void>;
}

/** Each span of a body of OTLP has it once. */
const mark = '"startTimeUnixNano"';

/** Opens one on a free port of this machine. */
export async function openSpanSink(): Promise<SpanSink> {
  let spans = 0;
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      spans += countSpans(Buffer.concat(chunks).toString());
      response.writeHead(200, { 'content-type': 'application/json' }).end('{}');
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    get spans() {
      return spans;
    },
    close: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

function countSpans(body: string): number {
  return body.split(mark).length - 1;
}
