import { FrameAssembler } from '../../src/kafka/frame-assembler.ts';
import { Random } from '../../src/random/index.ts';

function frameOf(bytes: number, random: Random): Buffer {
  const frame = Buffer.alloc(4 + bytes);
  frame.writeInt32BE(bytes, 0);
  for (let at = 4; at < frame.length; at += 1) frame[at] = random.below(256);
  return frame;
}

test('frames come out as they were sent, however the connection cuts them', () => {
  const random = new Random(33);
  for (let round = 0; round < 200; round += 1) {
    const sent = Array.from({ length: 20 }, () => frameOf(random.below(30), random));
    const bytes = Buffer.concat(sent);
    const assembler = new FrameAssembler();
    const got: Buffer[] = [];
    for (let at = 0; at < bytes.length; ) {
      const piece = bytes.subarray(at, at + random.integer(1, 1 + random.below(60)));
      got.push(...(assembler.push(Buffer.from(piece)) ?? []));
      at += piece.length;
    }
    // An assertion on each of the buffers takes longer than the rest.
    const isSame = got.length === sent.length && Buffer.concat(got).equals(bytes);
    const areFrames = got.every((frame, at) => frame.length === sent[at]?.length);
    if (!isSame || !areFrames) expect(got).toEqual(sent);
  }
});

test('a frame keeps no memory beside its own, and none of the piece it came in', () => {
  const random = new Random(34);
  const [first, second] = [frameOf(10, random), frameOf(10, random)];
  const piece = Buffer.concat([first, second]);
  const got = new FrameAssembler().push(piece) ?? [];
  piece.fill(0);
  expect(got).toEqual([first, second]);
  expect(got.map((frame) => frame.buffer.byteLength)).toEqual([14, 14]);
});

test.each([-1, 0x7fffffff])('a length of %i is no frame', (length) => {
  const piece = Buffer.alloc(4);
  piece.writeInt32BE(length, 0);
  expect(new FrameAssembler().push(piece)).toBeNull();
});
