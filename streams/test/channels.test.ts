import { apiKeyBytes, heartbeatIdBytes, hexBytes, parseHeartbeatId } from '@pm/schemas/ids';
import type { Transfer } from '@pm/schemas/log/accounts';
import type { CommentEvent } from '@pm/schemas/log/comments';
import { apiKey, condition, marketEntry, wallet } from '../../query-api/test/in-memory.ts';
import { rules } from './fake-feed.ts';
import type { Seen, StreamClient } from './stream-client.ts';
import { goodHeaders, StreamWorld } from './stream-world.ts';

let world: StreamWorld;
let commentOffset = -1;

beforeEach(async () => {
  commentOffset = -1;
  world = await new StreamWorld().start();
});
afterEach(() => world.close());

const timeMs = 1_780_315_200_000;
const author = hexBytes(wallet(7));

/** Appends a record of the topic of comments; the id of a comment it posts. */
function record(event: CommentEvent): string {
  commentOffset += 1;
  world.comments.apply(commentOffset, event);
  return String(commentOffset + 1);
}

function post(
  body: string,
  changes: Partial<Extract<CommentEvent, { kind: 'CommentPosted' }>> = {},
) {
  const place = { parentType: 'EVENT', parentId: '1', replyTo: '', replyAddress: null } as const;
  return record({
    kind: 'CommentPosted',
    author,
    ...place,
    body,
    clientId: '',
    timeMs,
    ...changes,
  });
}

const like = (commentId: string, active: boolean): CommentEvent => ({
  kind: 'CommentReacted',
  commentId,
  wallet: author,
  active,
  timeMs,
});

async function subscribeTo(client: StreamClient, frame: object): Promise<Seen> {
  client.send({ op: 'subscribe', id: 1, ...frame });
  return await client.of('subscribed');
}

describe('comments', () => {
  const frame = { channel: 'comments', events: ['1'] };

  test('begin with the newest 20 that are shown, and go on with each change of them', async () => {
    const ids = Array.from({ length: 30 }, (_, index) => post(`No. ${index}`));
    record({ kind: 'CommentHidden', commentId: ids[29] ?? '', hidden: true, timeMs });
    post('of a market', { parentType: 'MARKET', parentId: '2' });
    post('of a series', { parentType: 'SERIES', parentId: '1' });
    const client = await world.open();
    expect(await subscribeTo(client, frame)).toMatchObject({ keys: [{ key: '1', seq: 32 }] });
    const first = await client.of('snapshot');
    const items = first['items'] as readonly Seen[];
    expect(items.map((item) => item['body']).slice(0, 2)).toEqual(['of a market', 'No. 28']);
    expect(items).toHaveLength(20);
    record(like('5', true));
    const liked = { action: 'reacted', seq: 34, prev: 32, comment: { reactions: 1 } };
    expect(await client.of('event')).toMatchObject(liked);
    // Neither a repeated like nor another's deletion changes what readers see.
    record(like('5', true));
    record({ kind: 'CommentDeleted', commentId: '5', wallet: Buffer.alloc(20), timeMs });
    record({ kind: 'CommentDeleted', commentId: '5', wallet: author, timeMs });
    const deleted = { action: 'deleted', seq: 37, prev: 34, comment_id: '5', comment: null };
    expect(await client.of('event')).toMatchObject(deleted);
  });

  test('are resumed after the message that a client has, and with a gap beyond what is kept', async () => {
    post('one');
    post('two');
    post('three');
    const client = await world.open();
    await subscribeTo(client, { ...frame, from: { seq: 1 } });
    expect(await client.of('event')).toMatchObject({ seq: 2, prev: 1 });
    expect(await client.of('event')).toMatchObject({ seq: 3, prev: 2 });
    post('four');
    expect(await client.of('event')).toMatchObject({ seq: 4, prev: 3 });
    const other = await world.open();
    await subscribeTo(other, { ...frame, from: { partition: 0, offset: 2 } });
    expect(await other.of('event')).toMatchObject({ seq: 4, prev: 3 });
    for (let count = 0; count < 40_000; count += 1) record(like('1', count % 2 === 0));
    const late = await world.open();
    await subscribeTo(late, { ...frame, from: { seq: 4 } });
    expect(await late.of('snapshot')).toMatchObject({ gap: true, seq: 40_004 });
  });
});

test('own begins with the transfers of the wallet and the sessions of its keys, and reports both', async () => {
  const owner = hexBytes(wallet(1));
  const moved = (id: number, changes: Partial<Transfer>): Transfer => ({
    transferId: Buffer.alloc(32, id),
    wallet: owner,
    amountMicro: 5_000_000,
    timeMs,
    generation: 0,
    ...changes,
  });
  world.ownStates.takeTransfer(0, moved(1, {}));
  world.ownStates.takeTransfer(1, moved(1, {}));
  const client = await world.open();
  client.send({ op: 'auth', id: 2, headers: goodHeaders });
  await client.of('authenticated');
  expect(await subscribeTo(client, { channel: 'own' })).toMatchObject({ keys: [{ partition: 0 }] });
  expect(await client.of('state')).toMatchObject({
    kind: 'transfers',
    total: '5',
    at: { offset: 0 },
  });
  const id = parseHeartbeatId('00000000-0000-4000-8000-000000000001');
  if (id === null) throw new Error('not an id');
  const session = {
    apiKey: apiKeyBytes(apiKey(1)),
    wallet: owner,
    sequence: 1,
    phase: 'LIVE',
    heartbeatId: heartbeatIdBytes(id),
    recordId: Buffer.alloc(16),
    writer: Buffer.alloc(16),
    beatAtMs: timeMs,
  } as const;
  world.ownStates.takeSession(session);
  const live = { kind: 'session', phase: 'LIVE', deadline: timeMs + 10_000, api_key: apiKey(1) };
  expect(await client.of('state')).toMatchObject(live);
  // A miss that follows the same state as another record lost.
  world.ownStates.takeSession({ ...session, phase: 'MISSED' });
  world.ownStates.takeSession({ ...session, phase: 'MISSED', sequence: 2 });
  expect(await client.of('state')).toMatchObject({ phase: 'MISSED', sequence: 2, deadline: null });
  world.ownStates.takeTransfer(2, moved(0, { amountMicro: 0, generation: 2 }));
  world.ownStates.takeTransfer(3, moved(2, { amountMicro: -2_000_000, generation: 1 }));
  world.ownStates.takeTransfer(4, moved(3, { amountMicro: -1_000_000, generation: 2 }));
  expect(await client.of('state')).toMatchObject({
    kind: 'transfers',
    total: '4',
    at: { offset: 4 },
  });
});

describe('markets without keys', () => {
  const rulesOf = (market: number, changes: object = {}) =>
    ({ channel: 'markets', market, action: 'listed', rules, ...changes }) as const;

  test('are all markets as one key of a partition, with those that are listed later', async () => {
    world.feed.put(rulesOf(1), rulesOf(2), rulesOf(3));
    const client = await world.open();
    expect(await subscribeTo(client, { channel: 'markets' })).toMatchObject({
      keys: [{ key: '*', partition: 0, seq: 3 }],
    });
    for (const market of [1, 2, 3]) {
      expect(await client.of('snapshot')).toMatchObject({ market: condition(market), seq: 1 });
    }
    // Its record is in the log before the catalog knows it.
    world.feed.put(rulesOf(4));
    world.feed.put(rulesOf(4, { action: 'changed' }));
    world.feed.put(rulesOf(2, { action: 'changed' }));
    expect(await client.of('event')).toMatchObject({ market: condition(2), seq: 2, prev: 1 });
    world.catalog.apply(marketEntry(4));
    const later = { market: condition(4), seq: 2, prev: 0, merged: true };
    expect(await client.of('event')).toMatchObject(later);
    client.seen.length = 0;
    const beat = await client.of('heartbeat');
    expect(beat['subscriptions']).toEqual([{ channel: 'markets', key: '*', partition: 0, seq: 6 }]);
    client.send({ op: 'unsubscribe', id: 9, channel: 'markets' });
    expect(await client.of('unsubscribed')).toMatchObject({ keys: [{ key: '*', seq: 6 }] });
  });

  test('come page by page beyond the limit of keys, with what happens meanwhile after them', async () => {
    const many = Array.from({ length: 2_500 }, (_, index) => index + 1);
    for (const market of many) world.catalog.apply(marketEntry(market));
    world.feed.list(many);
    world.feed.put(...many.map((market) => rulesOf(market)));
    const client = await world.open();
    await subscribeTo(client, { channel: 'markets' });
    world.feed.put(rulesOf(2_500, { action: 'changed' }));
    const change = await client.of('event');
    expect(change).toMatchObject({ market: condition(2_500), seq: 2 });
    const snapshots = client.seen.filter(({ type }) => type === 'snapshot');
    expect(new Set(snapshots.map((one) => one['market']))).toEqual(new Set(many.map(condition)));
    expect(snapshots).toHaveLength(2_500);
  });
});

test('many resting orders come in parts, and count once all of them are there', async () => {
  const order = (index: number) => {
    const orderId = Buffer.alloc(32);
    orderId.writeUInt32BE(index);
    return { orderId, side: 'BUY', price: 4_000, restingMicro: 1_000_000 } as const;
  };
  world.feed.orders = Array.from({ length: 12_345 }, (_, index) => order(index));
  const client = await world.open();
  await subscribeTo(client, { channel: 'orders', markets: [condition(1)] });
  const added = { channel: 'orders', action: 'add', market: 1, order: order(20_000) } as const;
  world.feed.put(added);
  expect(await client.of('delta')).toMatchObject({ seq: 1, prev: 0 });
  const parts = client.seen.filter(({ type }) => type === 'snapshot');
  expect(parts.map((part) => part['part'])).toEqual(parts.map((_, index) => index));
  expect(parts.map((part) => part['more'] ?? false).lastIndexOf(true)).toBe(parts.length - 2);
  const names = parts.flatMap((part) => part['orders'] as readonly { readonly order: string }[]);
  expect(new Set(names.map((one) => one.order)).size).toBe(12_345);
});
