import { CommentThreads, replyDepthMax, threadRepliesMax } from '@pm/domain/comments/threads';
import { parseWalletAddress, type WalletAddress } from '@pm/schemas/ids';
import type { CommentEvent } from '@pm/schemas/log/comments';
import type { Profile } from '@pm/schemas/log/profiles';
import { headers as names } from '@pm/schemas/signing';
import { ProfileCreationTimes, Profiles } from '../../src/social/profiles.io.ts';
import {
  call,
  conditionId,
  type IngressUnderTest,
  lateMarket,
  openIngress,
  owner,
  trioIn,
} from '../ingress-fixture.ts';
import { RoomFake } from '../room-fixture.ts';
import { MemoryTopic } from '../table-fixture.ts';
import { walletOf } from '../wallet-fixture.ts';

let ingress: IngressUnderTest;
let said: IngressUnderTest['said'];

beforeEach(async () => {
  ingress = await openIngress();
  said = ingress.said;
  ingress.markets.take({ ...eventEntry, kind: 'CatalogEvent' });
});

const eventEntry = {
  id: '1',
  ticker: 'e',
  slug: 'e',
  title: 'E',
  description: '',
  resolutionSource: '',
  image: '',
  icon: '',
  startDateMs: 0,
  creationDateMs: 0,
  closedAtMs: 0,
  endDateMs: 0,
  createdAtMs: 0,
  updatedAtMs: 0,
  active: true,
  closed: false,
  archived: false,
  tagIds: [],
  seriesIds: [],
  metadata: '',
} as const;

const comment = (change: object = {}) => ({
  parent_entity_type: 'Event',
  parent_entity_id: '1',
  body: 'It will.',
  ...change,
});

type Method = 'POST' | 'PUT' | 'DELETE';
const send = (method: Method, url: string, value: unknown) =>
  call(ingress, { method, url, ...(value === undefined ? {} : { body: JSON.stringify(value) }) });
const post = (url: string, value: unknown) => send('POST', url, value);
const remove = (url: string) => send('DELETE', url, undefined);

test('a comment is on the log with its author, and its id is its place there', async () => {
  const answer = await post('/comments', comment());
  expect(answer).toMatchObject({ status: 200, body: { id: '1', status: 'ok' } });
  expect(said.comments).toMatchObject([
    { kind: 'CommentPosted', parentType: 'EVENT', parentId: '1', body: 'It will.', replyTo: '' },
  ]);
  expect(ingress.services.social.comments.threads.find('1')?.author).toBe(
    owner.address.toLowerCase(),
  );
});

test('markets are commented on by number or condition, also under the mount', async () => {
  for (const id of ['1', 1, conditionId]) {
    const body = comment({ parent_entity_type: 'market', parent_entity_id: id });
    expect((await post('/gamma/comments', body)).status).toBe(200);
  }
  expect(said.comments).toMatchObject(Array(3).fill({ parentType: 'MARKET', parentId: '1' }));
});

test('a market that was listed a moment ago is commented on once that is read', async () => {
  ingress.fakes.lateMarkets.push(lateMarket);
  const body = comment({ parent_entity_type: 'market', parent_entity_id: lateMarket.market });
  expect((await post('/comments', body)).status).toBe(200);
});

test('the same name for a comment gives the first one again, and says nothing twice', async () => {
  const first = await post('/comments', comment({ client_id: 'a' }));
  const again = await post('/comments', comment({ client_id: 'a', body: 'changed' }));
  expect(again.body).toEqual(first.body);
  expect(said.comments).toHaveLength(1);
});

test('bad comments are refused in the words of the catalog family', async () => {
  const bad: readonly unknown[] = [
    undefined,
    [],
    {},
    comment({ body: '' }),
    comment({ body: '  \n ' }),
    comment({ body: 'x'.repeat(2001) }),
    comment({ body: 'bell\u0007' }),
    comment({ body: 7 }),
    comment({ parent_entity_id: '99' }),
    comment({ parent_entity_type: 'Team' }),
    comment({ parent_entity_type: 'market', parent_entity_id: '1e0' }),
    comment({ parent_entity_type: 'Series', parent_entity_id: '1' }),
    comment({ reply_address: '0x12' }),
    comment({ client_id: 'a b' }),
  ];
  for (const body of bad) {
    const answer = await post('/comments', body);
    expect([body, answer.status]).toEqual([body, 400]);
    expect(answer.body).toMatchObject({ type: 'bad request', code: 'invalid_comment' });
  }
  const orphan = await post('/comments', comment({ parent_comment_id: '5' }));
  expect(orphan).toMatchObject({
    status: 404,
    body: { type: 'not found error', code: 'comment_not_found' },
  });
  expect(said.comments).toEqual([]);
});

test('a refusal names the field of the request, in a sentence', async () => {
  const cases = [
    [{ body: 'bell\u0007' }, 'invalid comment: body has control characters'],
    [{ body: 'x'.repeat(2001) }, 'invalid comment: body is longer than 2000 characters'],
    [{ body: ' \u200b\u2060\u00ad\ufe0f\u3164\u2800\n' }, 'invalid comment: body is empty'],
    [{ parent_entity_id: '01' }, 'invalid comment: parent_entity_id is not listed'],
  ] as const;
  for (const [change, error] of cases) {
    expect((await post('/comments', comment(change))).body).toMatchObject({ error });
  }
  await post('/comments', comment());
  const report = await post('/comments/1/reports', { reason: '\u0007' });
  expect(report.body).toMatchObject({ error: 'invalid comment: reason has control characters' });
});

test('line breaks of any system are one character', async () => {
  const body = 'It will.\r\nOr not.\n';
  expect((await post('/comments', comment({ body }))).status).toBe(200);
  expect((await post('/comments', comment({ body: `${'\r\n'.repeat(1999)}x` }))).status).toBe(200);
  expect((await post('/comments', comment({ body: 'a\rb' }))).status).toBe(400);
  expect(ingress.services.social.comments.threads.find('1')?.body).toBe('It will.\nOr not.\n');
});

test('a reply is about what the comment is about that it replies to', async () => {
  await post('/comments', comment());
  const market = { parent_entity_type: 'market', parent_entity_id: '1' };
  for (const change of [market, { ...market, parent_entity_id: conditionId }]) {
    const answer = await post('/comments', comment({ ...change, parent_comment_id: '1' }));
    const error =
      'invalid comment: parent_comment_id is about something else than parent_entity_id';
    expect(answer).toMatchObject({ status: 400, body: { error } });
  }
  expect((await post('/comments', comment({ parent_comment_id: '1' }))).status).toBe(200);
});

test('replies are nested so deep, and a thread has so many of them, and no more', async () => {
  await post('/comments', comment());
  for (let depth = 1; depth <= replyDepthMax; depth += 1) {
    const reply = await post('/comments', comment({ parent_comment_id: String(depth) }));
    expect(reply.status).toBe(200);
  }
  const tooDeep = comment({ parent_comment_id: String(replyDepthMax + 1) });
  expect(await post('/comments', tooDeep)).toMatchObject({
    status: 400,
    body: { error: 'invalid comment: replies are nested 32 levels deep at most' },
  });
  const { comments } = ingress.services.social;
  const [, reply] = said.comments;
  for (let count = replyDepthMax; count < threadRepliesMax; count += 1) {
    await comments.write(reply as CommentEvent);
  }
  expect(await post('/comments', comment({ parent_comment_id: '1' }))).toMatchObject({
    status: 400,
    body: { error: 'invalid comment: a thread has 1000 replies at most' },
  });
  await remove('/comments/40');
  expect((await post('/comments', comment({ parent_comment_id: '1' }))).status).toBe(200);
});

test('a hidden comment is as a deleted one to all but its author, who may take it back', async () => {
  await post('/comments', comment());
  await post('/comments', comment({ parent_comment_id: '1' }));
  const { comments } = ingress.services.social;
  await comments.write({ kind: 'CommentHidden', commentId: '1', hidden: true, timeMs: 1 });
  for (const id of ['1', '2']) {
    const answers = [
      await post('/comments', comment({ parent_comment_id: id })),
      await post(`/comments/${id}/reactions`, {}),
      await remove(`/comments/${id}/reactions`),
      await post(`/comments/${id}/reports`, {}),
    ];
    expect(answers).toMatchObject(
      Array(4).fill({ status: 404, body: { code: 'comment_not_found' } }),
    );
  }
  const wallet = walletOf(8).address as WalletAddress;
  const trio = trioIn(await ingress.keys.create(wallet, '0'));
  const headers = { [names.address]: wallet };
  const foreign = await call(ingress, { method: 'DELETE', url: '/comments/1', trio, headers });
  expect(foreign.status).toBe(404);
  expect((await remove('/comments/1')).status).toBe(200);
  expect(comments.threads.find('2')).toBeUndefined();
});

test('a reply to a comment that was deleted before it was written is none', async () => {
  await post('/comments', comment());
  const { comments } = ingress.services.social;
  const write = comments.write.bind(comments);
  const wallet = Buffer.from(owner.address.slice(2), 'hex');
  comments.write = async (event) => {
    await write({ kind: 'CommentDeleted', commentId: '1', wallet, timeMs: 1 });
    return await write(event);
  };
  const answer = await post('/comments', comment({ parent_comment_id: '1' }));
  expect(answer).toMatchObject({ status: 404, body: { code: 'comment_not_found' } });
});

test('2000 characters outside the basic plane are 2000 characters', async () => {
  expect((await post('/comments', comment({ body: '😀'.repeat(2000) }))).status).toBe(200);
});

test('only its author takes a comment back, and its replies go with it', async () => {
  await post('/comments', comment());
  await post('/comments', comment({ parent_comment_id: '1', body: 'No.' }));
  const { address } = walletOf(8);
  const wallet = parseWalletAddress(address);
  if (wallet === null) throw new Error('a wallet');
  const trio = trioIn(await ingress.keys.create(wallet, '0'));
  const headers = { [names.address]: address };
  const foreign = await call(ingress, { method: 'DELETE', url: '/comments/1', trio, headers });
  expect(foreign).toMatchObject({ status: 403, body: { code: 'not_the_author' } });
  expect((await remove('/comments/1')).status).toBe(200);
  expect(ingress.services.social.comments.threads.find('2')).toBeUndefined();
  expect((await remove('/comments/1')).status).toBe(404);
});

test('likes and reports of one wallet count once, and likes can be taken back', async () => {
  await post('/comments', comment());
  for (const _ of [1, 2]) {
    expect((await post('/comments/1/reactions', { reaction_type: 'HEART' })).status).toBe(200);
    expect((await post('/comments/1/reports', { reason: 'spam' })).status).toBe(200);
  }
  const { threads } = ingress.services.social.comments;
  expect(threads.find('1')).toMatchObject({ reportCount: 1 });
  expect(threads.find('1')?.likes.size).toBe(1);
  await remove('/comments/1/reactions');
  expect(threads.find('1')?.likes.size).toBe(0);
  expect((await post('/comments/1/reactions', { reaction_type: 'FROWN' })).status).toBe(400);
  expect((await post('/comments/9/reactions', {})).status).toBe(404);
});

test('nothing is written without a key', async () => {
  const requests = [
    ['POST', '/comments'],
    ['DELETE', '/comments/1'],
    ['POST', '/comments/1/reactions'],
    ['DELETE', '/comments/1/reactions'],
    ['POST', '/comments/1/reports'],
    ['PUT', '/profile'],
  ] as const;
  for (const [method, url] of requests) {
    const answer = await ingress.app.inject({ method, url });
    expect([method, url, answer.statusCode]).toEqual([method, url, 401]);
  }
});

test('another process that reads the same topic has the same threads', async () => {
  await post('/comments', comment());
  await post('/comments', comment({ parent_comment_id: '1', body: 'No.' }));
  await post('/comments/2/reactions', {});
  const twin = new CommentThreads();
  for (const [offset, event] of said.comments.entries()) twin.apply(offset, event as never);
  const { threads } = ingress.services.social.comments;
  expect(twin.find('2')).toEqual(threads.find('2'));
  expect(twin.repliesOf('1')).toHaveLength(1);
});

test('a profile is set as a whole; what cannot be shown is refused', async () => {
  const put = (value: unknown) => send('PUT', '/profile', value);
  const answer = await put({ name: ' Ann ', bio: 'hi', xUsername: '@ann' });
  expect(answer).toMatchObject({ status: 200, body: { name: 'Ann', xUsername: 'ann' } });
  expect(said.profiles).toMatchObject([
    { value: { name: 'Ann', bio: 'hi', image: '', xName: 'ann' } },
  ]);
  for (const body of [
    { name: 'x'.repeat(41) },
    { name: 'a\nb' },
    { name: '\u200b' },
    { name: 'Ann\u202etxt' },
    { name: '\u2067Ann' },
    { profileImage: 'javascript:alert(1)' },
    { profileImage: 'https://a.test/"><script>' },
    { xUsername: 'a b' },
    { displayUsernamePublic: 'yes' },
    [],
  ]) {
    expect([body, (await put(body)).body]).toMatchObject([body, { code: 'invalid_profile' }]);
  }
  const cases = [
    [{ xUsername: 'x'.repeat(16) }, 'xUsername is longer than 15 characters'],
    [{ profileImage: 'x'.repeat(501) }, 'profileImage is longer than 500 characters'],
    [{ bio: 'bell\u0007' }, 'bio has control characters'],
    [{ name: 'Ann\u202etxt' }, 'name has characters that turn the direction of text'],
  ] as const;
  for (const [body, detail] of cases) {
    expect((await put(body)).body).toMatchObject({ error: `invalid profile: ${detail}` });
  }
  await put({ bio: 'a\r\nb' });
  expect(said.profiles.at(-1)).toMatchObject({ value: { name: '', bio: 'a\nb' } });
});

test('as many wallets set a profile as readers keep; those that have one go on', async () => {
  const topic = new MemoryTopic<Profile>();
  const creationTimes = new ProfileCreationTimes(1);
  const store = new Profiles({
    clock: { nowMs: () => 5 },
    creationTimes,
    entryQuota: new RoomFake(),
    table: topic.open(creationTimes),
  });
  const form = { name: 'Ann', bio: '', image: '', xName: '', showName: true };
  const [first, second] = [walletOf(7).address, walletOf(8).address] as [
    WalletAddress,
    WalletAddress,
  ];
  await store.put(first, form);
  await expect(store.put(second, form)).rejects.toMatchObject({ code: 'overloaded' });
  await store.put(first, { ...form, name: 'Anna' });
  expect(topic.records).toHaveLength(2);
});
