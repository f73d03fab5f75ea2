import type { AddressInfo } from 'node:net';
import { noQuote } from '@pm/domain/books/quote';
import { behindHeader } from '@pm/kit/http';
import { condition, get, openListener, post, token, World } from '../in-memory.ts';

const yes = token(1, 0);

function setUp() {
  const world = new World();
  const app = openListener(world);
  world.books.set(yes, Buffer.from('{"of":"store"}'));
  world.kept.set(yes, Buffer.from('{"of":"memory"}'));
  world.quotes.set(yes, { ...noQuote, bid: 5000, ask: 5400, last: 5200, lastSide: 'BUY' });
  world.progress = { ends: new Map(), projections: [] };
  return { world, app };
}

const reads = [
  ...['/book', '/midpoint', '/spread', '/last-trade-price'].map(
    (path) => `${path}?token_id=${yes}`,
  ),
  `/price?token_id=${yes}&side=BUY`,
  ...['/prices', '/midpoints', '/spreads', '/last-trades-prices'].map(
    (path) => `${path}?token_ids=${yes}`,
  ),
  ...['/sampling-markets', '/sampling-simplified-markets', '/simplified-markets'],
  ...['/markets?next_cursor=MA==', `/markets/${condition(1)}`, '/clob/markets'],
  ...['/rewards/markets/multi', `/rewards/markets/${condition(1)}`],
  '/trades?limit=1',
  `/positions?user=0x${'1'.repeat(40)}`,
  `/value?user=0x${'1'.repeat(40)}`,
  `/activity?user=0x${'1'.repeat(40)}`,
  `/closed-positions?user=0x${'1'.repeat(40)}`,
];

test.each(reads)(
  '%s says when it is behind what its client was answered, and only then',
  async (url) => {
    const { world, app } = setUp();
    const behindOf = async () => {
      const { status, headers } = await get(app, url);
      expect(status).toBe(200);
      return headers[behindHeader];
    };
    expect(await behindOf()).toBeUndefined();
    world.answered = new Map([[0, 5]]);
    expect(await behindOf()).toBe('true');
    world.reached = new Map([[0, 5]]);
    expect(await behindOf()).toBeUndefined();
  },
);

test('a batch by body waits too, and so does a read under a mount', async () => {
  const { world, app } = setUp();
  world.answered = new Map([[0, 5]]);
  const batch = await post(app, '/books', [{ token_id: yes }]);
  const mounted = await get(app, `/clob/book?token_id=${yes}`);
  expect([batch, mounted].map(({ headers }) => headers[behindHeader])).toEqual(['true', 'true']);
});

test('a book at hand is sent without the framework only where it has what its client was answered', async () => {
  const { world, app } = setUp();
  await app.listen({ host: '127.0.0.1', port: 0 });
  const { port } = app.server.address() as AddressInfo;
  const read = async () => {
    const response = await fetch(`http://127.0.0.1:${port}/book?token_id=${yes}`);
    await response.arrayBuffer();
    return response.headers.get(behindHeader);
  };
  expect(await read()).toBeNull();
  world.answered = new Map([[0, 5]]);
  expect(await read()).toBe('true');
  world.reached = new Map([[0, 5]]);
  expect(await read()).toBeNull();
  app.server.closeAllConnections();
  await app.close();
});

test('a read of the catalog waits for nothing', async () => {
  const { world, app } = setUp();
  world.answered = new Map([[0, 5]]);
  expect((await get(app, '/tags')).headers[behindHeader]).toBeUndefined();
});
