import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import { BodyReader } from '../../src/local/clickhouse-front/body.ts';
import { EngineError } from '../../src/local/clickhouse-front/engine-error.ts';

const maxBytes = 10_000;

let folder: string;
let server: Server;
let url: string;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'pm-body-'));
  const bodies = new BodyReader(folder, maxBytes);
  server = createServer((request, response) => {
    const head = Buffer.from(request.url === '/head' ? 'head,' : '');
    bodies.spool(head, request).then(
      async (rows) => {
        response.end(`${rows.byteCount}:${readFileSync(rows.file, 'utf8')}`);
        await rows.remove();
      },
      (error: unknown) => {
        response.setHeader('Connection', 'close');
        response.end(`refused ${error instanceof EngineError ? error.code : String(error)}`);
      },
    );
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  url = `http://127.0.0.1:${typeof address === 'object' && address !== null ? address.port : 0}`;
});

afterAll(async () => {
  await new Promise((resolve) => server.close(resolve));
  rmSync(folder, { recursive: true, force: true });
});

async function send(body: Buffer, coding: string, path = '/'): Promise<string> {
  const headers = { 'Content-Encoding': coding };
  const answer = await fetch(url + path, { method: 'POST', body, headers });
  return answer.text();
}

describe('a body', () => {
  it.each([
    ['identity', Buffer.from('rows')],
    ['gzip', gzipSync('rows')],
    ['deflate', deflateSync('rows')],
    ['br', brotliCompressSync('rows')],
  ])('packed with %s is unpacked into a file', async (coding, body) => {
    expect(await send(body, coding)).toBe('4:rows');
  });

  it('follows what came with the statement', async () => {
    expect(await send(Buffer.from('tail'), 'identity', '/head')).toBe('9:head,tail');
  });

  it('is bounded by its size once unpacked', async () => {
    expect(await send(Buffer.alloc(maxBytes, 'x'), 'identity')).toMatch(/^10000:/);
    expect(await send(gzipSync(Buffer.alloc(maxBytes + 1, 'x')), 'gzip')).toBe('refused 229');
  });

  it('in an unknown or broken encoding is refused', async () => {
    expect(await send(Buffer.from('x'), 'lzma')).toBe('refused 48');
    expect(await send(Buffer.from('no gzip'), 'gzip')).toBe('refused 6');
  });

  it('leaves no file', async () => {
    // The file of a refused body goes when its stream has closed, which may be after the answer.
    for (let tries = 0; tries < 100 && readdirSync(folder).length > 0; tries += 1) await wait(20);
    expect(readdirSync(folder)).toEqual([]);
  });
});
