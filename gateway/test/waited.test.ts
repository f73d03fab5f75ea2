import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { waitedBy, waitedHeader } from '@pm/kit/http';
import { openGateway } from '../src/gateway.ts';

test('a request says how long it was with the gateway, whatever its client says', async () => {
  const kept: { headers: IncomingHttpHeaders; response: ServerResponse }[] = [];
  const service = createServer(({ headers }, response) => void kept.push({ headers, response }));
  service.listen(0, '127.0.0.1');
  await once(service, 'listening');
  const url = `http://127.0.0.1:${(service.address() as AddressInfo).port}`;
  const gateway = openGateway({ ingress: url, 'query-api': url });
  await gateway.listen({ host: '127.0.0.1', port: 0 });
  const base = `http://127.0.0.1:${(gateway.server.address() as AddressInfo).port}`;
  const post = () =>
    fetch(`${base}/order`, { method: 'POST', headers: { [waitedHeader]: '55555' } });
  const untilKept = async (count: number) => {
    while (kept.length < count) await new Promise((resolve) => setTimeout(resolve, 5));
  };
  // All places of the address are taken, one more waits for a slot.
  const first = Array.from({ length: 32 }, post);
  await untilKept(32);
  const waiting = post();
  const heldMs = 200;
  await new Promise((resolve) => setTimeout(resolve, heldMs));
  kept[0]?.response.end('{}');
  await untilKept(33);
  const waitedMs = kept.map(({ headers }) => Number(headers[waitedHeader]));
  for (const { response } of kept) response.end('{}');
  await Promise.all([...first, waiting]);
  expect(waitedMs.at(-1)).toBeGreaterThan(0);
  for (const ms of waitedMs) expect(ms).not.toBe(55_555);
  gateway.server.closeAllConnections();
  await gateway.close();
  service.closeAllConnections();
  service.close();
});

test('only a trusted proxy says how long a request has waited, and only as a bounded duration', () => {
  const waitedMs = waitedBy(['10.0.0.0/8']);
  const of = (text: string | undefined, remoteAddress = '10.1.2.3') =>
    waitedMs({ headers: { [waitedHeader]: text }, socket: { remoteAddress } } as never);
  expect([of('1500'), of('1500', '192.0.2.1'), of(undefined)]).toEqual([1_500, 0, 0]);
  expect(['-5', '1e3', '999999', '12345678', ''].map((text) => of(text))).toEqual([
    0, 0, 60_000, 0, 0,
  ]);
});
