import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { answeredHeader } from '@pm/kit/http';
import { headers as names } from '@pm/schemas/signing';
import { AnsweredPlaces, answeredLimits, clientNames } from '../src/answered-places.ts';
import { openGateway } from '../src/gateway.ts';

function openPlaces(limits: Partial<typeof answeredLimits> = {}) {
  const clock = { nowMs: 0 };
  const places = new AnsweredPlaces(() => clock.nowMs, { ...answeredLimits, ...limits });
  return { clock, places };
}

test('the highest place of each partition is handed on to every name of its client', () => {
  const { places } = openPlaces();
  places.take(['a', 'w'], '3:10,5:7');
  places.take(['b', 'w'], '3:9,4:1');
  expect(places.of(['a'])).toBe('3:10,5:7');
  expect(places.of(['b'])).toBe('3:9,4:1');
  expect(places.of(['w'])).toBe('5:7,3:10,4:1');
  expect(places.of(['b', 'a'])).toBe('3:10,4:1,5:7');
  expect(places.of(['c'])).toBeUndefined();
});

test('a place is forgotten some seconds after the answer that named it', () => {
  const { clock, places } = openPlaces({ keptMs: 100 });
  places.take(['a'], '1:5');
  clock.nowMs = 60;
  places.take(['a'], '2:6');
  clock.nowMs = 100;
  expect(places.of(['a'])).toBe('2:6');
  clock.nowMs = 160;
  expect(places.of(['a'])).toBeUndefined();
  expect([places.size, places.places]).toEqual([0, 0]);
});

test('clients, partitions of one client and all places are bounded, and the oldest go first', () => {
  const { places } = openPlaces({ clients: 3, perClient: 2, places: 5 });
  places.take(['a'], '1:1,2:2,3:3');
  expect(places.of(['a'])).toBe('2:2,3:3');
  places.take(['b'], '1:1,2:2');
  places.take(['a'], '1:4');
  places.take(['c'], '1:1,2:2');
  expect([places.of(['b']), places.of(['a'])]).toEqual([undefined, '3:3,1:4']);
  expect(places.places).toBe(4);
  for (const name of ['d', 'e', 'f']) places.take([name], '1:1');
  expect(places.size).toBe(3);
});

test('what is no place is left out', () => {
  const { places } = openPlaces();
  places.take(['a'], 'x, 1:2,-1:3,4:-5,6:1e3,7:8');
  expect(places.of(['a'])).toBe('7:8');
  places.take(['b'], 'nothing');
  expect(places.size).toBe(1);
});

test('a client has the names of its address, its wallet and its agent key, which is not kept', () => {
  const headers = { [names.address.toLowerCase()]: '0xAB', authorization: 'Bearer pro_secret' };
  const found = clientNames(headers, '192.0.2.1');
  expect(found.slice(0, 2)).toEqual(['address 192.0.2.1', 'wallet 0xab']);
  expect(found[2]).toMatch(/^agent [\w-]{43}$/);
});

test('the gateway hands on what ingress named, and neither shows it nor takes it from clients', async () => {
  const seen: IncomingHttpHeaders[] = [];
  const service = createServer(({ headers, method }, response) => {
    seen.push(headers);
    if (method === 'POST') response.setHeader(answeredHeader, '3:10');
    response.end('{}');
  });
  service.listen(0, '127.0.0.1');
  await once(service, 'listening');
  const url = `http://127.0.0.1:${(service.address() as AddressInfo).port}`;
  const gateway = openGateway(
    { ingress: url, 'query-api': url },
    { trustedProxies: ['127.0.0.1'] },
  );
  await gateway.listen({ host: '127.0.0.1', port: 0 });
  const base = `http://127.0.0.1:${(gateway.server.address() as AddressInfo).port}`;
  const book = async (headers: Record<string, string>) => {
    await fetch(`${base}/book?token_id=1`, { headers });
    return seen.at(-1)?.[answeredHeader];
  };
  const [here, there] = ['203.0.113.1', '203.0.113.2'].map((ip) => ({ 'x-forwarded-for': ip }));
  const signed = { ...here, [names.address]: '0xAa' };
  expect(await book({ ...here, [answeredHeader]: '3:99' })).toBeUndefined();
  const placed = await fetch(`${base}/order`, { method: 'POST', headers: signed, body: '{}' });
  expect(placed.headers.get(answeredHeader)).toBeNull();
  expect(await book({ ...here, [answeredHeader]: '3:99' })).toBe('3:10');
  expect(await book({ ...there })).toBeUndefined();
  expect(await book({ ...there, [names.address]: '0xaA' })).toBe('3:10');
  gateway.server.closeAllConnections();
  await gateway.close();
  service.closeAllConnections();
  service.close();
});
