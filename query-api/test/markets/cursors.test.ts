import type { HttpApp } from '@pm/kit/http';
import { eventEntry, get, marketEntry, nowMs, openListener, World } from '../in-memory.ts';

/** Cursors of lists by cursor: each is taken by the query it came from, under every name, and by no other. */
const names = ['after_cursor', 'next_cursor', 'cursor'];
const shared = ['', 'ascending=true', 'order=createdAt', 'active=true', 'closed=false'];
const more = ['tag_slug=crypto', 'order=createdAt&active=true', 'volume_min=0&active=true'];
const ofListings = [...shared, ...more];
const ofEvent = ['', 'ascending=true', 'order=updatedAt', 'holders_only=false'];
const lists: Readonly<Record<string, readonly string[]>> = {
  markets: [...ofListings, 'event_id=1', 'slug=market-1,market-2,market-3'],
  events: [...ofListings, 'id=1,2,3'],
  comments: ofEvent.map((query) => `parent_entity_id=1&${query}`),
};
const mounts = ['', '/gamma'];

interface Asked {
  readonly list: string;
  readonly query: string;
}

const queries: readonly Asked[] = Object.entries(lists).flatMap(([list, of]) =>
  of.map((query) => ({ list, query })),
);

function setUp(): HttpApp {
  const world = new World();
  for (const id of ['2', '3']) {
    world.catalog.apply(eventEntry(id));
    world.catalog.apply(marketEntry(10 + Number(id), { eventId: id }));
  }
  for (const offset of [0, 1, 2]) {
    world.threads.apply(offset, {
      kind: 'CommentPosted',
      author: Buffer.alloc(20, 1),
      parentType: 'EVENT',
      parentId: '1',
      replyTo: '',
      replyAddress: null,
      body: 'text',
      clientId: '',
      timeMs: nowMs + offset,
    });
  }
  return openListener(world);
}

const app = setUp();

async function read({ list, query }: Asked, more = '') {
  const { status, body } = await get(app, `/${list}/keyset?limit=1&${query}${more}`);
  return { status, body: body as Readonly<Record<string, unknown>> };
}

async function cursorOf(asked: Asked): Promise<string> {
  return String((await read(asked)).body['next_cursor']);
}

test.each(queries)('a cursor of $list with "$query" belongs to that query alone', async (asked) => {
  const cursor = await cursorOf(asked);
  for (const other of queries) {
    const name = names[queries.indexOf(other) % names.length] ?? '';
    const { status, body } = await read(other, `&${name}=${cursor}`);
    if (other === asked) expect([other, status]).toEqual([other, 200]);
    else
      expect([other, status, body]).toEqual([
        other,
        400,
        { type: 'bad request', error: `invalid ${name}` },
      ]);
  }
});

test.each(names)('a list is read to its end by "%s" under both dialects', async (name) => {
  for (const { list, query } of queries) {
    for (const mount of mounts) {
      const whole = (await get(app, `${mount}/${list}/keyset?${query}`)).body;
      const seen: unknown[] = [];
      for (let after: unknown = ''; after !== undefined; ) {
        const url = `${mount}/${list}/keyset?${query}&limit=${1 + seen.length}&unknown=${seen.length}`;
        const { status, body } = await get(app, `${url}&${name}=${after}`);
        expect([url, status]).toEqual([url, 200]);
        const page = body as Readonly<Record<string, readonly unknown[]>>;
        seen.push(...(page[list] ?? []));
        after = page['next_cursor'];
      }
      expect(seen).toEqual((whole as Readonly<Record<string, unknown>>)[list]);
    }
  }
});

test('two names of the cursor with different texts are refused by the second one', async () => {
  const asked = { list: 'markets', query: '' };
  const cursor = await cursorOf(asked);
  expect((await read(asked, `&after_cursor=${cursor}&cursor=${cursor}`)).status).toBe(200);
  const { status, body } = await read(asked, `&after_cursor=${cursor}&cursor=x`);
  expect([status, body]).toEqual([400, { type: 'bad request', error: 'invalid cursor' }]);
});

test('an offset into a list by cursor is refused by name', async () => {
  for (const { list, query } of queries) {
    expect((await read({ list, query }, '&offset=0')).status).toBe(200);
    expect((await read({ list, query }, '&offset=1')).body).toMatchObject({
      error: 'invalid offset',
    });
  }
});
