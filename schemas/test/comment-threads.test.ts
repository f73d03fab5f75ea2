import { type CommentEvent, CommentThreads, commentIdAt } from '../src/index.ts';

const bytes = (number: number) => Buffer.alloc(20, number);

function randomFrom(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fffffff;
    return state % below;
  };
}

function randomEvent(offset: number, random: (below: number) => number): CommentEvent {
  const commentId = commentIdAt(random(offset + 1));
  const wallet = bytes(1 + random(5));
  switch (random(6)) {
    case 0:
      return { kind: 'CommentDeleted', commentId, wallet, timeMs: offset };
    case 1:
      return { kind: 'CommentReacted', commentId, wallet, active: random(3) > 0, timeMs: offset };
    case 2:
      return { kind: 'CommentReported', commentId, wallet, reason: '', timeMs: offset };
    case 3:
      return { kind: 'CommentHidden', commentId, hidden: random(2) === 0, timeMs: offset };
    default:
      return {
        kind: 'CommentPosted',
        author: wallet,
        parentType: 'EVENT',
        parentId: String(random(3)),
        replyTo: random(2) === 0 ? commentId : '',
        replyAddress: null,
        body: `${offset}`,
        clientId: random(4) === 0 ? `c${random(20)}` : '',
        timeMs: offset,
      };
  }
}

/** Everything a reader can see. */
function seen(threads: CommentThreads) {
  return ['0', '1', '2'].flatMap((parent) =>
    threads.topsOf('EVENT', parent).map((top) => [top, threads.repliesOf(top.id)]),
  );
}

test('every comment shown is in one thread, and no thread holds one that is gone', () => {
  for (let seed = 1; seed <= 50; seed += 1) {
    const random = randomFrom(seed);
    const threads = new CommentThreads();
    for (let offset = 0; offset < 200; offset += 1) {
      threads.apply(offset, randomEvent(offset, random));
    }
    const shown = seen(threads).flatMap(([top, replies]) => [top, ...(replies as [])]);
    const ids = shown.map((comment) => Reflect.get(comment as object, 'id') as string);
    expect(new Set(ids).size).toBe(ids.length);
    for (const id of ids) expect(threads.find(id)).toBeDefined();
    const written = [1, 2, 3, 4, 5].flatMap((author) =>
      threads.byAuthor(`0x${bytes(author).toString('hex')}` as never),
    );
    for (const { top, replyTo } of written) {
      if (replyTo !== '') expect(threads.find(top)).toBeDefined();
    }
  }
});

test('beyond the limit the oldest thread is forgotten whole', () => {
  const threads = new CommentThreads(10);
  const random = randomFrom(3);
  for (let offset = 0; offset < 500; offset += 1) {
    threads.apply(offset, randomEvent(offset, random));
    expect(threads.size).toBeLessThanOrEqual(10);
  }
});
