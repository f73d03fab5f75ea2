import type { WalletAddress } from '@pm/schemas/ids';
import type { CommentEvent } from '@pm/schemas/log/comments';
import fc from 'fast-check';
import { CommentThreads, commentIdAt, type HeldComment } from '../../src/comments/threads.ts';
import { NaiveThreads } from './naive-threads.ts';

const bytes = (number: number) => Buffer.alloc(20, number);
const walletOf = (number: number) => `0x${bytes(number).toString('hex')}` as WalletAddress;
const ids = (comments: readonly HeldComment[]) => comments.map(({ id }) => id);

const posted = (change: object = {}): CommentEvent => ({
  kind: 'CommentPosted',
  author: bytes(1),
  parentType: 'EVENT',
  parentId: '1',
  replyTo: '',
  replyAddress: null,
  body: 'so',
  clientId: '',
  timeMs: 1,
  ...change,
});

/** A record about the one so many places before it, whatever that is: replies to the last one make deep chains. */
interface Step {
  readonly kind: 'post' | 'reply' | 'delete' | 'react' | 'report' | 'hide';
  readonly back: number;
  readonly wallet: number;
  readonly flag: boolean;
  readonly name: number;
}

const steps = fc.array(
  fc.record<Step>({
    kind: fc.constantFrom(
      ...(['post', 'reply', 'reply', 'reply', 'delete', 'react', 'report', 'hide'] as const),
    ),
    back: fc.oneof(fc.constant(0), fc.nat(4), fc.nat(60)),
    wallet: fc.integer({ min: 1, max: 3 }),
    flag: fc.boolean(),
    name: fc.nat(12),
  }),
  { maxLength: 80 },
);

function eventOf({ kind, back, wallet, flag, name }: Step, offset: number): CommentEvent {
  const commentId = commentIdAt(Math.max(0, offset - 1 - back));
  const about = { commentId, wallet: bytes(wallet), timeMs: offset };
  switch (kind) {
    case 'delete':
      return { kind: 'CommentDeleted', ...about };
    case 'react':
      return { kind: 'CommentReacted', active: flag, ...about };
    case 'report':
      return { kind: 'CommentReported', reason: '', ...about };
    case 'hide':
      return { kind: 'CommentHidden', commentId, hidden: flag, timeMs: offset };
    default:
      return posted({
        author: bytes(wallet),
        parentType: flag ? 'EVENT' : 'MARKET',
        timeMs: offset,
        parentId: String(name % 2),
        clientId: name > 9 ? `c${name}` : '',
        replyTo: kind === 'reply' ? commentId : '',
        body: 'x'.repeat(1 + name),
      });
  }
}

/** All results of the comments in memory, in the form of the twin. */
function seen(threads: CommentThreads, events: readonly CommentEvent[]) {
  return events.flatMap((event, offset) => {
    const comment = threads.find(commentIdAt(offset));
    if (comment === undefined || event.kind !== 'CommentPosted') return [];
    const { id, author, top, depth, isShown, reportCount, parentType, parentId } = comment;
    return {
      id,
      author,
      top,
      depth,
      isShown,
      reportCount,
      likes: [...comment.likes.keys()],
      replies: ids(threads.repliesOf(id)),
      total: threads.replyTotal(id),
      beside: ids(threads.topsOf(parentType, parentId)),
      byAuthor: ids(threads.byAuthor(author)),
      named: threads.findNamed(author, event.clientId)?.id ?? '',
    };
  });
}

test('any records give the threads that a naive twin has', () => {
  fc.assert(
    fc.property(
      steps,
      fc.constantFrom(1, 4, 9, 1_000),
      fc.constantFrom(0, 2, 1_000),
      fc.constantFrom(5, 40, 10_000),
      (...given) => {
        const [sequence, ...bounds] = given;
        const events = sequence.map(eventOf);
        const [threads, twin] = [new CommentThreads(...bounds), new NaiveThreads(...bounds)];
        for (const [offset, event] of events.entries()) {
          threads.apply(offset, event);
          twin.apply(offset, event);
        }
        const expected = twin.seen();
        expect(seen(threads, events)).toEqual(expected);
        expect(threads.size).toBe(expected.length);
      },
    ),
    { numRuns: 1_000 },
  );
});

test('the longest bodies take no more memory than their bound', () => {
  const body = '\u{1F600}'.repeat(2_000);
  const threads = new CommentThreads();
  for (let offset = 0; offset < 9_000; offset += 1) threads.apply(offset, posted({ body }));
  expect(threads.size).toBe(8_000);
  expect(threads.find(commentIdAt(0))).toBeUndefined();
});

/** More than any stack has room for, and than a step for each pair would end with. */
const many = 20_000;

/** One comment and so many replies: each to the one before it, or all to the first. */
function threadOf(shape: 'chain' | 'flat', max: number): CommentThreads {
  const threads = new CommentThreads(max);
  threads.apply(0, posted());
  for (let offset = 1; offset <= many; offset += 1) {
    const replyTo = commentIdAt(shape === 'chain' ? offset - 1 : 0);
    threads.apply(offset, posted({ replyTo, author: bytes(2) }));
  }
  return threads;
}

describe.each(['chain', 'flat'] as const)('a %s of very many replies', (shape) => {
  test('can be read, hidden and deleted', () => {
    const threads = threadOf(shape, many + 1);
    expect(threads.repliesOf('1').length).toBe(many);
    expect(threads.find(commentIdAt(many))?.depth).toBe(shape === 'chain' ? many : 1);
    threads.apply(many + 1, { kind: 'CommentHidden', commentId: '1', hidden: true, timeMs: 1 });
    expect(threads.byAuthor(walletOf(2)).length).toBe(0);
    threads.apply(many + 2, {
      kind: 'CommentDeleted',
      commentId: '1',
      wallet: bytes(1),
      timeMs: 1,
    });
    expect(threads.size).toBe(0);
  });

  test('is forgotten when there is no room for it', () => {
    const threads = threadOf(shape, many + 1);
    threads.apply(many + 1, posted({ parentId: '2' }));
    expect(threads.size).toBe(1);
  });

  test('can be deleted from its end, one by one', () => {
    const threads = threadOf(shape, many + 1);
    for (let reply = many; reply > 0; reply -= 1) {
      const commentId = commentIdAt(reply);
      const deleted = { kind: 'CommentDeleted', commentId, wallet: bytes(2), timeMs: 1 } as const;
      threads.apply(many + 1, deleted);
    }
    expect([threads.size, threads.replyTotal('1')]).toEqual([1, 0]);
  });
});

test('a full store keeps the thread that is written to, and forgets the one that was not for longest', () => {
  const threads = new CommentThreads(3);
  for (const offset of [0, 1, 2]) threads.apply(offset, posted());
  threads.apply(3, posted({ replyTo: '1' }));
  expect(['1', '2', '3', '4'].map((id) => threads.find(id)?.id)).toEqual([
    '1',
    undefined,
    '3',
    '4',
  ]);
});

test('a comment below a hidden one stays hidden when it is shown by itself', () => {
  const threads = new CommentThreads();
  const hide = (commentId: string, hidden: boolean) =>
    threads.apply(9, { kind: 'CommentHidden', commentId, hidden, timeMs: 1 });
  threads.apply(0, posted());
  threads.apply(1, posted({ replyTo: '1' }));
  threads.apply(2, posted({ replyTo: '2' }));
  hide('1', true);
  hide('2', false);
  expect(ids(threads.byAuthor(walletOf(1)))).toEqual([]);
  hide('2', true);
  hide('1', false);
  expect(ids(threads.byAuthor(walletOf(1)))).toEqual(['1']);
  hide('2', false);
  expect(ids(threads.repliesOf('1'))).toEqual(['2', '3']);
});
