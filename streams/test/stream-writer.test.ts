import { PassThrough } from 'node:stream';
import { Random } from '@pm/kit/random';
import type { WebSocket } from 'ws';
import type { Message } from '../src/protocol/message.ts';
import { BatchedWrites } from '../src/protocol/stream-socket.io.ts';
import { QueuedTotal, StreamWriter } from '../src/protocol/stream-writer.io.ts';

const headBytes = 4;
const key = { id: 'book|1', condition: '0x', token: '1', outcome: 0 } as const;

function message(seq: number, bytes: Buffer): Message {
  const at = { partition: 0, offset: seq, index: 0, timeMs: 0 };
  return { bytes, seq, prev: seq - 1, at, key, content: null, isChecksum: false };
}

/** A socket that keeps what it is sent until `flush`; then its reader has read all of it. */
class FakeSocket {
  readonly readyState = 1;
  readonly sent: number[] = [];
  bufferedAmount = 0;
  onRead: (payload: Buffer) => void = () => {};
  #flushed: (() => void)[] = [];

  send(bytes: Buffer, flushed?: () => void): void {
    this.sent.push(bytes.length);
    this.bufferedAmount += bytes.length + headBytes;
    if (flushed !== undefined) this.#flushed.push(flushed);
  }

  ping(payload: Buffer): void {
    this.#flushed.push(() => this.onRead(payload));
  }

  flush(): void {
    const flushed = this.#flushed;
    this.#flushed = [];
    this.bufferedAmount = 0;
    for (const call of flushed) call();
  }
}

test.each([1, 2])(
  'a queue is sent without further messages, whatever their sizes, seed %d',
  (seed) => {
    const random = new Random(seed);
    const socket = new FakeSocket();
    const writer = new StreamWriter(
      {
        frames: Object.assign(socket, { ['OPEN']: 1 }) as unknown as WebSocket,
        bytes: new PassThrough(),
        sendText: (payload, done) => socket.send(payload, done),
        heldBack: new BatchedWrites(),
      },
      { total: new QueuedTotal(1 << 29), boundBytes: 1 << 26, onOverflow: () => {} },
    );
    socket.onRead = (payload) => expect(writer.noteRead(payload)).toBe(true);
    const position = { sentSeq: null };
    const sizes = Array.from({ length: 40_000 }, () => random.integer(1, 600));
    for (const [index, size] of sizes.entries())
      writer.send(message(index + 1, Buffer.alloc(size)), position);
    for (let flushes = 0; flushes < 2_000 && socket.sent.length < sizes.length; flushes += 1)
      socket.flush();
    expect(socket.sent).toEqual(sizes);
    expect(position.sentSeq).toBe(sizes.length);
  },
);

test('a socket that takes nothing holds few writes, however short the frames are', () => {
  const socket = new FakeSocket();
  let pongs = 0;
  const writer = new StreamWriter(
    {
      frames: Object.assign(socket, {
        ['OPEN']: 1,
        pong: (payload: Buffer, _mask: boolean, flushed?: () => void) => {
          pongs += 1;
          socket.send(payload, flushed);
        },
      }) as unknown as WebSocket,
      bytes: new PassThrough(),
      sendText: (payload, done) => socket.send(payload, done),
      heldBack: new BatchedWrites(),
    },
    { total: new QueuedTotal(1 << 29), boundBytes: 1 << 26, onOverflow: () => {} },
  );
  // A pong is two writes, also where one is left.
  for (let count = 0; count < 31; count += 1) writer.addText('PONG');
  for (let count = 0; count < 500; count += 1) {
    writer.pong(Buffer.alloc(0));
    writer.addText('PONG');
  }
  expect([pongs, socket.sent.length]).toEqual([1, 32]);
  while (socket.bufferedAmount > 0) socket.flush();
  expect(socket.sent).toHaveLength(32 + 500);
});
