import { defaultPorts } from '../../src/local/ports.ts';
import { openPlaces, parseScale } from '../../src/stack/scale.ts';

test('processes of services are read from one text', () => {
  expect(parseScale('')).toEqual({});
  expect(parseScale('ingress=2,query-api=3')).toEqual({ ingress: 2, 'query-api': 3 });
});

test.each([
  'ingress',
  'ingress=0',
  'ingress=4',
  'operator=2',
  'ingress=2,ingress=2',
  'ingress=2,',
  'toString=2',
])('%s is refused', (text) => {
  expect(() => parseScale(text)).toThrow(`--scale ${text}`);
});

test('the first process of each service has the ports of the stack, further ones have free ones', async () => {
  const places = await openPlaces({ ingress: 2, gateway: 3 }, defaultPorts);
  const ingress = places.of('ingress');
  expect(ingress.map(({ name }) => name)).toEqual(['ingress', 'ingress-2']);
  expect(ingress[0]?.ports).toEqual(defaultPorts);
  expect(places.of('matcher').map(({ name }) => name)).toEqual(['matcher']);
  const names = places.others.map(({ name }) => name);
  expect(names).toEqual(['ingress-2', 'gateway-2', 'gateway-3']);
  const own = places.others.flatMap((place) => place.own);
  expect(own).toHaveLength(6);
  const all = [...own, ...Object.values(defaultPorts)];
  expect(new Set(all).size).toBe(all.length);
  expect(own.every((port) => port > 0)).toBe(true);
});
