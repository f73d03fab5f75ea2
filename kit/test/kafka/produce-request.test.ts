import { type ProduceContent, writeProduceRequest } from '../../src/kafka/produce-request.ts';
import type { OutgoingRecord } from '../../src/kafka/records.ts';
import { Random } from '../../src/random/index.ts';

interface KafkajsRequest {
  encode(): Promise<{ readonly buffer: Buffer }>;
}

/** The newest request that kafkajs knows; from version 3 on all are laid out alike. */
const kafkajsRequest: (content: object) => KafkajsRequest = jest.requireActual(
  'kafkajs/src/protocol/requests/produce/v7/request',
);

async function encodedByKafkajs(content: ProduceContent): Promise<Buffer> {
  const { identity, ackTimeoutMs, timestampMs, batches } = content;
  const topics = [...new Set(batches.map(({ topic }) => topic))];
  const request = kafkajsRequest({
    acks: -1,
    timeout: ackTimeoutMs,
    producerId: identity.producerId,
    producerEpoch: identity.epoch,
    topicData: topics.map((topic) => ({
      topic,
      partitions: batches
        .filter((batch) => batch.topic === topic)
        .map(({ partition, firstSequence, records }) => ({
          partition,
          firstSequence,
          messages: records.map((record) => ({
            ...record,
            timestamp: record.timestampMs ?? timestampMs,
          })),
        })),
    })),
  });
  return Buffer.from((await request.encode()).buffer);
}

interface KafkajsBatch {
  readonly maxTimestamp: string;
  readonly records: readonly { readonly timestamp: string }[];
}

async function decodedByKafkajs(bytes: Buffer): Promise<KafkajsBatch> {
  const Decoder = jest.requireActual('kafkajs/src/protocol/decoder');
  const decode = jest.requireActual('kafkajs/src/protocol/recordBatch/v0/decoder');
  return await decode(new Decoder(bytes));
}

const random = new Random(26_112_026);

/** Lengths on both sides of each step of a varint. */
const lengths = [0, 1, 5, 63, 64, 65, 200, 8_191, 8_192, 8_193];

const memory = Buffer.from(Array.from({ length: 16_384 }, () => random.below(256)));

function bytes(): Buffer {
  const length = random.pick(lengths) + random.below(3);
  const start = random.below(memory.length - length);
  return memory.subarray(start, start + length);
}

function record(topic: string, partition: number): OutgoingRecord {
  const key = random.below(3) === 0 ? bytes() : null;
  const value = random.below(10) === 0 ? null : bytes();
  const plain = { topic, partition, key, value };
  if (random.below(3) > 0) return plain;
  const names = ['seal', 'größe', 'x'.repeat(70), ''].slice(random.below(4));
  return { ...plain, headers: Object.fromEntries(names.map((name) => [name, bytes()])) };
}

/** None, or rising ones, seconds or months apart: kafkajs takes the last for the latest. */
function withTimes(records: readonly OutgoingRecord[]): readonly OutgoingRecord[] {
  if (random.below(2) === 0) return records;
  let timestampMs = 1_600_000_000_000 + random.below(1_000_000);
  return records.map((one) => {
    timestampMs += random.pick([0, 1, 70, 9_000, 2 ** 31, 2 ** 33]);
    return { ...one, timestampMs };
  });
}

function content(): ProduceContent {
  const topics = ['orders', 'executions', 'тема'];
  const places = topics.flatMap((topic) => [0, 7].map((partition) => ({ topic, partition })));
  const chosen = places.filter(() => random.below(2) === 0);
  return {
    identity: { producerId: random.below(2) === 0 ? 7 : 2 ** 40 + 5, epoch: random.below(32_000) },
    ackTimeoutMs: random.below(100_000),
    timestampMs: 1_795_000_000_000 + random.below(1_000_000),
    batches: chosen.map(({ topic, partition }) => ({
      topic,
      partition,
      firstSequence: random.below(1_000_000_000),
      records: withTimes(
        Array.from({ length: 1 + random.below(80) }, () => record(topic, partition)),
      ),
    })),
  };
}

test('a request has the bytes that kafkajs gives it', async () => {
  for (let round = 0; round < 100; round += 1) {
    const given = content();
    const written = writeProduceRequest(given);
    expect(Buffer.compare(written, await encodedByKafkajs(given))).toBe(0);
  }
});

test('records keep the times that they state, falling ones too', async () => {
  const times = [1_700_000_000_000, 1_700_000_000_009, 1_690_000_000_000];
  const records = times.map((timestampMs) => {
    return { topic: 't', partition: 0, key: null, value: Buffer.from('x'), timestampMs };
  });
  const written = writeProduceRequest({
    identity: { producerId: 1, epoch: 0 },
    ackTimeoutMs: 1,
    timestampMs: 5,
    batches: [{ topic: 't', partition: 0, firstSequence: 0, records }],
  });
  // Behind the head of the request, of the topic and of its partition.
  const batch = await decodedByKafkajs(written.subarray(12 + 7 + 8));
  expect(batch.maxTimestamp).toBe(String(times[1]));
  expect(batch.records.map(({ timestamp }) => Number(timestamp))).toEqual(times);
});

test('a request of one record has exactly these bytes', () => {
  const written = writeProduceRequest({
    identity: { producerId: 258, epoch: 3 },
    ackTimeoutMs: 2_500,
    timestampMs: 1_700_000_000_000,
    batches: [
      {
        topic: 't',
        partition: 2,
        firstSequence: 5,
        records: [
          {
            topic: 't',
            partition: 2,
            key: null,
            value: Buffer.from('hello'),
            headers: { h: Buffer.from('x') },
          },
        ],
      },
    ],
  });
  const expected = [
    'ffff', // no transactional id
    'ffff', // acks: all
    '000009c4', // 2,500 ms
    '00000001 0001 74', // one topic, "t"
    '00000001 00000002 0000004d', // one partition, 2, 77 bytes
    '0000000000000000 00000041', // offset 0, 65 bytes after this
    '00000000 02', // leader epoch, format 2
    '436ec147', // checksum of all after it
    '0000 00000000', // attributes, offset of the last record
    '0000018bcfe56800 0000018bcfe56800', // first and last time
    '0000000000000102 0003 00000005', // identity and number of the first record
    '00000001', // one record
    '1e 00 00 00 01 0a 68656c6c6f', // 15 bytes; no key; 5 bytes of value
    '02 02 68 02 78', // one header, "h" of "x"
  ].join('');
  expect(written.toString('hex')).toBe(expected.replaceAll(' ', ''));
});
