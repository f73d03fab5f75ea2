import { commentIdAt } from '@pm/domain/comments/threads';
import type { CommentEvent } from '@pm/schemas/log/comments';
import type { Profile } from '@pm/schemas/log/profiles';
import { appOf, condition, get, marketEntry, World } from '../in-memory.ts';

let world: World;
let offset: number;

const address = (number: number) => `0x${number.toString(16).padStart(40, '0')}`;
const bytes = (number: number) => Buffer.from(address(number).slice(2), 'hex');

beforeEach(() => {
  world = new World();
  offset = 0;
});

function say(event: CommentEvent): string {
  world.threads.apply(offset, event);
  offset += 1;
  return commentIdAt(offset - 1);
}

const posted = (author: number, change: object = {}) =>
  say({
    kind: 'CommentPosted',
    author: bytes(author),
    parentType: 'EVENT',
    parentId: '1',
    replyTo: '',
    replyAddress: null,
    body: `by ${author}`,
    clientId: '',
    timeMs: 1_780_000_000_000 + offset * 1000,
    ...change,
  } as CommentEvent);

const liked = (commentId: string, wallet: number) =>
  say({ kind: 'CommentReacted', commentId, wallet: bytes(wallet), active: true, timeMs: 1 });

const idsOf = (body: unknown) => (body as { id: string }[]).map(({ id }) => id);

test('comments come newest first with their replies, authors and counts', async () => {
  const first = posted(1);
  const reply = posted(2, { replyTo: first, replyAddress: bytes(1) });
  posted(3, { replyTo: reply });
  const last = posted(4);
  liked(first, 9);
  const { status, body } = await get(appOf(world), '/comments?parent_entity_id=1');
  expect(status).toBe(200);
  expect(idsOf(body)).toEqual([last, first]);
  const [, top] = body as [unknown, Record<string, unknown>];
  expect(top).toMatchObject({
    body: 'by 1',
    parentEntityType: 'Event',
    parentEntityID: 1,
    parentCommentID: '',
    replyAddress: '',
    reportCount: 0,
    reactionCount: 1,
    replyCount: 2,
    reactions: [{ commentID: first, reactionType: 'HEART' }],
    profile: { name: '', isMod: false, isCreator: false, profileImageOptimized: {}, positions: [] },
  });
  expect(top['replies']).toMatchObject([
    { id: reply, parentCommentID: first, replies: [] },
    { parentCommentID: reply, replies: [] },
  ]);
});

test('reactions have their author, and the id of their comment in the form of the dialect', async () => {
  liked(posted(1), 2);
  const reaction = async (url: string) => {
    const { body } = await get(appOf(world), `${url}?parent_entity_id=1`);
    const [comment] = body as [{ profile: object; reactions: object[] }];
    return { ...comment, reaction: comment.reactions[0] };
  };
  const { profile, reaction: ofFamily } = await reaction('/gamma/comments');
  const proxyWallet = expect.stringMatching(/^0x0{39}2$/);
  expect(ofFamily).toMatchObject({
    id: `1-${address(2).slice(2)}`,
    commentID: 1,
    reactionType: 'HEART',
    profile: { proxyWallet, baseAddress: proxyWallet, name: '', isCreator: false },
  });
  for (const shown of [profile, Reflect.get(ofFamily ?? {}, 'profile')]) {
    expect(shown).not.toHaveProperty('isMod');
    expect(shown).not.toHaveProperty('profileImageOptimized');
  }
  const { reaction: ofRoot } = await reaction('/comments');
  expect(ofRoot).toMatchObject({ commentID: '1', profile: { profileImageOptimized: {} } });
});

test('who made a market is shown as its creator', async () => {
  world.catalog.apply(marketEntry(1, { creator: address(7) }));
  const of = posted(7);
  const { body } = await get(appOf(world), '/comments?parent_entity_id=1');
  expect(body).toContainEqual(
    expect.objectContaining({ id: of, profile: expect.objectContaining({ isCreator: true }) }),
  );
});

test('a market is no parent that clients of the family know', async () => {
  posted(1, { parentType: 'MARKET', parentId: '2' });
  const query = 'parent_entity_type=market&parent_entity_id=2';
  const root = await get(appOf(world), `/comments?${query}`);
  expect(root.body).toMatchObject([{ parentEntityType: 'market', parentEntityID: 2 }]);
  const family = await get(appOf(world), `/gamma/comments?${query}`);
  expect(family.body).toMatchObject([{ parentEntityType: null, parentEntityID: 2 }]);
});

test('a market is named by its number or condition, each in one spelling but for the case of letters', async () => {
  const id = posted(1, { parentType: 'MARKET', parentId: '2' });
  const found = async (name: string) => {
    const query = `parent_entity_type=market&parent_entity_id=${encodeURIComponent(name)}`;
    const { status, body } = await get(appOf(world), `/comments?${query}`);
    return status === 200 ? idsOf(body) : status;
  };
  for (const name of ['2', condition(2), `0x${condition(2).slice(2).toUpperCase()}`]) {
    expect([name, await found(name)]).toEqual([name, [id]]);
  }
  for (const name of ['0x2', '2e0', '2.0', ' 2', '02', '+2', '-2', 'x']) {
    expect([name, await found(name)]).toEqual([name, 404]);
  }
});

test('no id has leading zeros', async () => {
  posted(1);
  for (const what of ['/events/', '/series/']) {
    const id = what === '/events/' ? '1' : '3';
    for (const below of ['', '/comments/count']) {
      const [good, bad] = [`${what}${id}${below}`, `${what}0${id}${below}`];
      expect([good, (await get(appOf(world), good)).status]).toEqual([good, 200]);
      expect([bad, (await get(appOf(world), bad)).status]).toEqual([bad, 404]);
    }
  }
  expect((await get(appOf(world), '/comments/01')).status).toBe(404);
  expect((await get(appOf(world), '/markets/01')).status).toBe(404);
  expect((await get(appOf(world), '/markets?id=01')).body).toEqual([]);
});

test('every comment is read with its replies, and theirs, and counts them', async () => {
  const top = posted(1);
  const reply = posted(2, { replyTo: top });
  const below = posted(3, { replyTo: reply });
  const last = posted(1, { replyTo: below });
  const beside = posted(2, { replyTo: top });
  const counted = (body: unknown) =>
    (
      body as { id: string; replyCount: number; replies: { id: string; replyCount: number }[] }[]
    ).map(({ id, replyCount, replies }) => [
      id,
      replyCount,
      replies.map((one) => [one.id, one.replyCount]),
    ]);
  const read = async (url: string) => counted((await get(appOf(world), url)).body);
  const flat = [
    [reply, 2],
    [below, 1],
    [last, 0],
    [beside, 0],
  ];
  expect(await read('/comments?parent_entity_id=1')).toEqual([[top, 4, flat]]);
  expect(await read(`/comments/${top}`)).toEqual([
    [top, 4, flat],
    ...flat.map((one) => [...one, []]),
  ]);
  const belowReply = [
    [below, 1],
    [last, 0],
  ];
  expect(await read(`/comments/${reply}`)).toEqual([
    [reply, 2, belowReply],
    ...belowReply.map((one) => [...one, []]),
  ]);
  expect(await read(`/comments/${last}`)).toEqual([[last, 0, []]]);
  expect(await read(`/comments/user_address/${address(2)}`)).toEqual([
    [beside, 0, []],
    [reply, 2, belowReply],
  ]);
  const sorted = await read(`/comments/user_address/${address(1)}?order=replyCount&ascending=true`);
  expect(sorted.map(([id]) => id)).toEqual([last, top]);
});

test('replies and reactions inside a long list are shown in equal shares', async () => {
  for (let place = 0; place < 40; place += 1) {
    const top = posted(1);
    for (let reply = 0; reply < 30; reply += 1) {
      const id = posted(2, { replyTo: top });
      for (let wallet = 0; wallet < 12; wallet += 1) liked(id, wallet + 50);
    }
  }
  const read = async (limit: number) => {
    const url = `/comments?parent_entity_id=1&limit=${limit}`;
    const { body } = await get(appOf(world), url);
    return body as { replyCount: number; replies: { reactions: [] }[] }[];
  };
  const long = await read(40);
  expect(long.map(({ replies }) => replies.length)).toEqual(Array(40).fill(25));
  expect(new Set(long.map(({ replyCount }) => replyCount))).toEqual(new Set([30]));
  expect(long[0]?.replies[0]?.reactions).toHaveLength(9);
  const [short] = await read(1);
  expect(short?.replies).toHaveLength(30);
  expect(short?.replies[0]?.reactions).toHaveLength(12);
});

test('every order and direction sorts as a plain sort of all comments would', async () => {
  const ids = Array.from({ length: 12 }, (_, author) => posted(author + 1));
  ids.forEach((id, place) => {
    for (let wallet = 0; wallet < (place * 7) % 5; wallet += 1) liked(id, wallet + 50);
    for (let reply = 0; reply < (place * 3) % 4; reply += 1) posted(60, { replyTo: id });
  });
  const count = (id: string, order: string) => {
    if (order === 'reactionCount') return world.threads.find(id)?.likes.size ?? 0;
    if (order === 'replyCount') return world.threads.repliesOf(id).length;
    return Number(id);
  };
  for (const order of ['createdAt', 'updatedAt', 'reactionCount', 'replyCount', 'id']) {
    for (const ascending of [true, false]) {
      const query = `parent_entity_id=1&limit=100&order=${order}&ascending=${ascending}`;
      const { body } = await get(appOf(world), `/comments?${query}`);
      const sign = ascending ? 1 : -1;
      const plain = [...ids].sort(
        (one, other) =>
          sign * (count(one, order) - count(other, order) || Number(one) - Number(other)),
      );
      expect([order, ascending, idsOf(body)]).toEqual([order, ascending, plain]);
    }
  }
});

test('pages by offset and by cursor leave nothing out and show nothing twice', async () => {
  const ids = Array.from({ length: 25 }, () => posted(1)).reverse();
  const byOffset: string[] = [];
  const byCursor: string[] = [];
  let cursor = '';
  for (let from = 0; from < 25; from += 10) {
    const url = `/comments?parent_entity_id=1&limit=10&offset=${from}`;
    byOffset.push(...idsOf((await get(appOf(world), url)).body));
    const more = cursor === '' ? '' : `&after_cursor=${cursor}`;
    const keyset = `/gamma/comments/keyset?parent_entity_id=1&limit=10${more}`;
    const { body } = await get(appOf(world), keyset);
    const page = body as { comments: { id: string }[]; next_cursor?: string };
    byCursor.push(...idsOf(page.comments));
    cursor = page.next_cursor ?? 'end';
  }
  expect(byOffset).toEqual(ids);
  expect(byCursor).toEqual(ids);
  expect(cursor).toBe('end');
});

test('a list continues after its cursor when the comment of the cursor is gone', async () => {
  for (const sort of ['order=createdAt', 'order=id&ascending=true', 'order=reactionCount']) {
    world = new World();
    offset = 0;
    const ids = Array.from({ length: 9 }, () => posted(1));
    for (const id of [ids[1], ids[1], ids[4]]) liked(id ?? '', offset + 50);
    const url = `/comments/keyset?parent_entity_id=1&limit=4&${sort}`;
    const read = async (cursor = '') =>
      (await get(appOf(world), `${url}${cursor && `&after_cursor=${cursor}`}`)).body as {
        comments: { id: string }[];
        next_cursor: string;
      };
    const whole = idsOf((await get(appOf(world), `/comments?parent_entity_id=1&${sort}`)).body);
    const first = await read();
    const last = first.comments.at(-1)?.id ?? '';
    say({ kind: 'CommentDeleted', commentId: last, wallet: bytes(1), timeMs: 1 });
    posted(1);
    const second = await read(first.next_cursor);
    expect([sort, idsOf([...first.comments, ...second.comments])]).toEqual([
      sort,
      whole.slice(0, 8),
    ]);
  }
});

test('a cursor that is none, or one of another order, is refused', async () => {
  const cursorOf = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');
  posted(1);
  posted(2);
  const first = await get(appOf(world), '/comments/keyset?parent_entity_id=1&limit=1');
  const good = (first.body as { next_cursor: string }).next_cursor;
  const [digest] = JSON.parse(Buffer.from(good, 'base64url').toString()) as readonly [string];
  const bad = [
    '1',
    'x',
    'MA==',
    good.slice(3),
    cursorOf(['createdAt', 1, 1]),
    cursorOf([digest, '1', 1]),
  ];
  for (const mount of ['', '/gamma']) {
    const url = `${mount}/comments/keyset?parent_entity_id=1`;
    expect((await get(appOf(world), `${url}&after_cursor=${good}`)).status).toBe(200);
    for (const cursor of bad) {
      const { status, body } = await get(appOf(world), `${url}&after_cursor=${cursor}`);
      const error = { type: 'bad request', error: 'invalid after_cursor' };
      expect([cursor, status, body]).toEqual([cursor, 400, error]);
    }
    const several = await get(appOf(world), `${url}&order=id,createdAt`);
    expect([several.status, several.body]).toMatchObject([400, { error: 'invalid order' }]);
  }
  const plain = await get(appOf(world), '/comments?parent_entity_id=1&after_cursor=x');
  expect(plain.status).toBe(200);
});

test('holders only are those who hold a token of the event now, and positions show which', async () => {
  const held = posted(1);
  posted(2);
  world.authorHoldings.push({ wallet: address(1), market: 1, outcome: 0, sizeMicro: 5_000_000 });
  const url = '/comments?event_slug=event-1&holders_only=true&get_positions=true';
  const { body } = await get(appOf(world), url);
  expect(idsOf(body)).toEqual([held]);
  const tokenId = world.catalog.market(1)?.tokens[0];
  expect(body).toMatchObject([{ profile: { positions: [{ tokenId, positionSize: '5000000' }] } }]);
});

test('every list shows the holdings of authors in the markets each comment is about', async () => {
  const onEvent = posted(1);
  const onMarket = posted(1, { parentType: 'MARKET', parentId: '2' });
  for (const [market, sizeMicro] of [
    [1, 5_000_000],
    [2, 7_000_000],
  ] as const)
    world.authorHoldings.push({ wallet: address(1), market, outcome: 0, sizeMicro });
  const held = (body: unknown) =>
    (body as { id: string; profile: { positions: { positionSize: string }[] } }[]).map(
      ({ id, profile }) => [id, profile.positions.map(({ positionSize }) => positionSize)],
    );
  const [both, one] = [['5000000', '7000000'], ['7000000']];
  const byAuthor = `/comments/user_address/${address(1)}`;
  expect(held((await get(appOf(world), byAuthor)).body)).toEqual([
    [onMarket, one],
    [onEvent, both],
  ]);
  expect(held((await get(appOf(world), `/comments/${onEvent}`)).body)).toEqual([[onEvent, both]]);
  const family = await get(appOf(world), `/gamma${byAuthor}`);
  expect(held(family.body).flatMap(([, sizes]) => sizes)).toEqual([]);
  const requested = await get(appOf(world), `/gamma${byAuthor}?get_positions=true`);
  expect(held(requested.body)).toEqual([
    [onMarket, one],
    [onEvent, both],
  ]);
});

test('hidden comments are in no list, with all below them, and a thread is read by its id', async () => {
  const first = posted(1);
  const reply = posted(2, { replyTo: first });
  const thread = await get(appOf(world), `/comments/${first}`);
  expect(idsOf(thread.body)).toEqual([first, reply]);
  expect((await get(appOf(world), '/events/1/comments/count')).body).toEqual({ count: 2 });
  say({ kind: 'CommentHidden', commentId: first, hidden: true, timeMs: 1 });
  expect((await get(appOf(world), '/comments?parent_entity_id=1')).body).toEqual([]);
  expect((await get(appOf(world), `/comments/${first}`)).status).toBe(404);
  const mine = await get(appOf(world), `/comments/user_address/${address(1)}`);
  expect(mine.body).toEqual([]);
  const theirs = await get(appOf(world), `/comments/user_address/${address(2)}`);
  expect(theirs.body).toEqual([]);
  expect((await get(appOf(world), `/comments/${reply}`)).status).toBe(404);
  expect((await get(appOf(world), '/events/1/comments/count')).body).toEqual({ count: 0 });
});

test('bad parameters are refused in the words of the catalog family', async () => {
  const cases = [
    ['/comments', 400, 'parent_entity_id or event_slug is required'],
    ['/comments?parent_entity_id=1&order=body', 400, 'invalid order'],
    ['/comments?parent_entity_id=1&limit=0', 400, 'invalid limit'],
    ['/comments?parent_entity_id=1&limit=101', 400, 'invalid limit'],
    ['/comments?parent_entity_id=1&parent_entity_type=Team', 400, 'invalid parent_entity_type'],
    ['/comments?parent_entity_id=1&holders_only=maybe', 400, 'invalid holders_only'],
    ['/comments?parent_entity_id=77', 404, 'event not found'],
    ['/comments?event_slug=none', 404, 'event not found'],
    ['/comments?parent_entity_type=market&parent_entity_id=77', 404, 'market not found'],
    ['/comments/one', 400, 'id must be an integer'],
    ['/comments/user_address/me', 400, 'user_address is not an address'],
    ['/events/x/comments/count', 400, 'id must be an integer'],
    ['/series/99/comments/count', 404, 'id not found'],
    ['/public-profile', 400, 'address is required'],
    ['/profiles/user_address/me', 400, 'user_address is not an address'],
  ] as const;
  for (const [url, status, error] of cases) {
    const answer = await get(appOf(world), url);
    const type = status === 404 ? 'not found error' : 'bad request';
    expect([url, answer.status, answer.body]).toEqual([url, status, { type, error }]);
  }
});

test('a wallet is shown by its pseudonym until it says its name, the same for ever', async () => {
  const url = `/public-profile?address=${address(1)}`;
  const before = (await get(appOf(world), url)).body as { pseudonym: string };
  expect(before).toMatchObject({ name: '' });
  expect(Object.keys(before as object)).not.toContain('createdAt');
  expect(Object.keys(before as object)).not.toContain('xUsername');
  expect(before.pseudonym).toBe('Ancient-Albatross-0');
  const profile: Profile = {
    wallet: bytes(1),
    name: 'Ann',
    bio: 'hi',
    image: '',
    xName: 'ann',
    showName: true,
    createdAtMs: 1_780_000_000_000,
    updatedAtMs: 1_780_000_000_000,
  };
  world.profiles.apply(profile);
  const byPath = (await get(appOf(world), `/profiles/user_address/${address(1)}`)).body;
  expect(byPath).toMatchObject({ name: 'Ann', bio: 'hi', xUsername: 'ann' });
  expect(byPath).toMatchObject({ pseudonym: before.pseudonym });
  expect(world.profiles.named('ANN')).toEqual([address(1)]);
  world.profiles.apply({ ...profile, showName: false });
  expect((await get(appOf(world), url)).body).toMatchObject({ name: '' });
  expect(world.profiles.named('ann')).toEqual([]);
});
