import { publicMessages } from '@pm/schemas/streams/messages';
import { ownMessages } from '@pm/schemas/streams/own-messages';
import { serverFrames } from '@pm/schemas/streams/server-frames';
import { Beats } from '../../src/streams/beats.ts';
import { filesOfPage } from '../../src/streams/first-view.ts';
import { frameKind } from '../../src/streams/frame-kind.ts';
import { deliveredOf } from '../../src/streams/matched.ts';
import { byRecord, partsOf, slicesOf } from '../../src/streams/slices.ts';

/** The declared types of frames and messages. */
function declaredTypes(): readonly string[] {
  const all = Object.values({ ...serverFrames, ...publicMessages, ...ownMessages });
  return all.map((schema) => {
    const { type } = schema.properties as { readonly type: { readonly const: string } };
    return type.const;
  });
}

describe('frames', () => {
  it.each([
    ['delta', 'data'],
    ['event', 'data'],
    ['checksum', 'data'],
    ['snapshot', 'snapshot'],
    ['subscribed', 'subscribed'],
    ['welcome', 'welcome'],
    ['heartbeat', 'heartbeat'],
    ['error', 'other'],
    ['closing', 'other'],
    ['state', 'other'],
    ['unsubscribed', 'other'],
  ])('of the type %s are %s', (type, kind) => {
    expect(declaredTypes()).toContain(type);
    expect(frameKind(Buffer.from(JSON.stringify({ type, seq: 1 })))).toBe(kind);
  });

  it('that are short are not mistaken', () => {
    expect(frameKind(Buffer.from('{"type":"d'))).toBe('other');
    expect(frameKind(Buffer.alloc(0))).toBe('other');
  });
});

describe('Beats', () => {
  it('keeps the longest gap of each connection', () => {
    const beats = new Beats(2, 1_000);
    for (const atMs of [1_900, 3_100, 4_000]) beats.beat(0, atMs);
    for (const atMs of [2_000, 3_000]) beats.beat(1, atMs);
    expect(beats.longestGaps(4_100)).toEqual([1_200, 1_100]);
  });

  it('counts the time without any heartbeat', () => {
    expect(new Beats(1, 0).longestGaps(9_000)).toEqual([9_000]);
  });
});

describe('deliveredOf', () => {
  const appended = [
    { partition: 0, inOffset: 7, atMs: 100 },
    { partition: 1, inOffset: 7, atMs: 200 },
    { partition: 1, inOffset: 8, atMs: 300 },
  ];

  it('takes the last message of each record, and leaves out records without messages', () => {
    const received = [
      { partition: 0, offset: 7, atMs: 105 },
      { partition: 0, offset: 7, atMs: 109 },
      { partition: 1, offset: 7, atMs: 203 },
      { partition: 0, offset: 7, atMs: 108 },
    ];
    expect(deliveredOf(received, appended)).toEqual({
      latenciesMs: [9, 3],
      messages: 4,
      outside: 0,
    });
  });

  it('counts messages of other records as outside', () => {
    const received = [
      { partition: 0, offset: 6, atMs: 99 },
      { partition: 2, offset: 7, atMs: 99 },
    ];
    expect(deliveredOf(received, appended)).toEqual({ latenciesMs: [], messages: 0, outside: 2 });
  });
});

describe('filesOfPage', () => {
  it('names the page and each of its assets once', () => {
    const page = `<script type="module" src="/console/assets/index-a.js"></script>
      <link rel="modulepreload" href="/console/assets/kit-b.js"><link rel="stylesheet" href="/console/assets/c.css">
      <link rel="preload" href="/console/assets/kit-b.js"><a href="/docs">docs</a>`;
    expect(filesOfPage(page)).toEqual([
      'index.html',
      'assets/index-a.js',
      'assets/kit-b.js',
      'assets/c.css',
    ]);
  });
});

describe('slices', () => {
  const list = Array.from({ length: 17 }, (_, index) => index);

  it.each([1, 3, 5, 17])('%d of them are the whole list in order, and equally long', (count) => {
    const slices = slicesOf(list, count);
    expect(slices.flat()).toEqual(list);
    expect(slices).toHaveLength(count);
    const lengths = slices.map(({ length }) => length);
    expect(Math.max(...lengths) - Math.min(...lengths)).toBeLessThanOrEqual(1);
  });

  it('can have given lengths', () => {
    expect(partsOf(list, [2, 0, 15])).toEqual([list.slice(0, 2), [], list.slice(2)]);
  });

  it('keep messages of one record together', () => {
    const message = (offset: number, seq: number) => JSON.stringify({ seq, at: { offset } });
    const [a, b, c, d] = [message(4, 1), message(4, 1), message(5, 2), message(7, 3)];
    expect(byRecord([a, b, c, d])).toEqual([[a, b], [c], [d]]);
  });
});
