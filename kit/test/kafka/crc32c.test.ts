import { crc32c } from '../../src/kafka/crc32c.ts';
import { Random } from '../../src/random/index.ts';

/** https://www.rfc-editor.org/rfc/rfc3720#appendix-B.4 */
test.each([
  ['zeros', Buffer.alloc(32), 0x8a9136aa],
  ['ones', Buffer.alloc(32, 0xff), 0x62a8ab43],
  ['ascending bytes', Buffer.from(Array.from({ length: 32 }, (_, at) => at)), 0x46dd794e],
  ['descending bytes', Buffer.from(Array.from({ length: 32 }, (_, at) => 31 - at)), 0x113fdb5c],
  ['digits', Buffer.from('123456789'), 0xe3069283],
  ['nothing', Buffer.alloc(0), 0],
])('gives the published checksum of %s', (_, bytes, expected) => {
  expect(crc32c(bytes)).toBe(expected);
});

const kafkajs: (bytes: Buffer) => number = jest.requireActual(
  'kafkajs/src/protocol/recordBatch/crc32C',
);

test('gives the checksum of kafkajs for every length and every place in memory', () => {
  const random = new Random(20_261_126);
  const memory = Buffer.from(Array.from({ length: 512 }, () => random.below(256)));
  for (let start = 0; start < 16; start += 1)
    for (let length = 0; length <= 128; length += 1) {
      const bytes = memory.subarray(start, start + length);
      expect([start, length, crc32c(bytes)]).toEqual([start, length, kafkajs(bytes)]);
    }
});
