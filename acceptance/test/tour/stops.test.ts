import { routes } from '@pm/schemas/routes/routes';
import { stopsOf } from '../../src/tour/stops.ts';

const named = { id: '1', slug: 'one' };
const facts = {
  event: { ...named, title: 'One' },
  tag: named,
  series: named,
  market: { ...named, conditionId: `0x${'11'.repeat(32)}`, tokens: ['1', '2'] },
  wallet: `0x${'22'.repeat(20)}`,
  orderId: `0x${'33'.repeat(32)}`,
  builder: `0x${'44'.repeat(32)}`,
  commentId: '1',
  consoleFile: 'index.js',
} as const;

test('the tour calls every read of query-api once, and no other route', () => {
  const reads = routes
    .filter(({ service }) => service === 'query-api')
    .map(({ method, path }) => `${method} ${path}`);
  expect(
    stopsOf(facts)
      .map(({ route }) => route)
      .sort(),
  ).toEqual(reads.sort());
});

test('every stop names all parameters of its path, and no others', () => {
  for (const { route, params = {} } of stopsOf(facts)) {
    const wanted = [...route.matchAll(/:(\w+)/g)].map(([, name]) => name);
    expect({ route, params: Object.keys(params) }).toEqual({ route, params: wanted });
  }
});
