import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { openRenamedHost, type RenamedHost } from '../../src/clients/rename-proxy.ts';

/** A request as the exchange got it. */
interface Seen {
  readonly line: string;
  readonly body: string;
  readonly address: string | undefined;
}

let exchange: Server;
let host: RenamedHost;
let seen: Seen[] = [];

/** Answers 503 to the first two of each request. */
beforeAll(async () => {
  exchange = createServer(async (request, response) => {
    const line = `${request.method} ${request.url}`;
    const body = await text(request);
    seen.push({ line, body, address: request.headers['service_address'] as string | undefined });
    response.writeHead(seen.length > 2 ? 200 : 503).end(`after ${seen.length}`);
  });
  await new Promise<void>((resolve) => exchange.listen(0, '127.0.0.1', resolve));
  const { port } = exchange.address() as AddressInfo;
  host = await openRenamedHost(`http://127.0.0.1:${port}`, '/clob');
});

beforeEach(() => {
  seen = [];
});

afterAll(async () => {
  await host.close();
  await new Promise((resolve) => exchange.close(resolve));
});

test.each([
  ['GET', '/book?token_id=1', ''],
  ['POST', '/books', '[{"token_id":"1"}]'],
])('a read by %s that is refused for now is sent again as it was', async (method, path, body) => {
  const init = { method, headers: { POLY_ADDRESS: '0x1' }, ...(body === '' ? {} : { body }) };
  const response = await fetch(`${host.url}${path}`, init);
  expect(await response.text()).toBe('after 3');
  expect(new Set(seen.map((one) => JSON.stringify(one))).size).toBe(1);
  expect(seen[0]).toEqual({ line: `${method} /clob${path}`, body, address: '0x1' });
});

test('a write is sent once', async () => {
  const response = await fetch(`${host.url}/order`, { method: 'POST', body: '{}' });
  expect(response.status).toBe(503);
  expect(seen).toHaveLength(1);
});
