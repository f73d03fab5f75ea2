import { AvroError } from '@pm/schemas/avro/bytes';
import { type AvroSchema, toAvroJson } from '@pm/schemas/avro/schema';
import { topics } from '@pm/schemas/log/topics';
import avsc from 'avsc';
import { openRecordCodec } from '../../src/registry/record-codec.io.ts';

const hash = { type: 'fixed', name: 'Hash', size: 4 } as const;
const side = { type: 'enum', name: 'Side', symbols: ['BUY', 'SELL'], default: 'BUY' } as const;
const laterSide = { ...side, symbols: ['BUY', 'SELL', 'BOTH'] } as const;

const placed = {
  type: 'record',
  name: 'Placed',
  doc: 'Placed.',
  fields: [
    { name: 'id', type: hash, doc: 'Id.' },
    { name: 'side', type: side, doc: 'Side.' },
  ],
} as const;

const laterPlaced = {
  ...placed,
  fields: [
    { name: 'id', type: hash, doc: 'Id.' },
    { name: 'note', type: ['null', 'string'], doc: 'New.', default: null },
    { name: 'side', type: laterSide, doc: 'Side.' },
  ],
} as const;

const gone = {
  type: 'record',
  name: 'Gone',
  doc: 'Gone.',
  fields: [{ name: 'id', type: hash, doc: 'Id.' }],
} as const;

const added = {
  type: 'record',
  name: 'Added',
  doc: 'Added.',
  fields: [{ name: 'at', type: 'long', doc: 'When.' }],
} as const;

const event = { type: 'oneOf', name: 'Event', doc: 'Event.', branches: [placed, gone] } as const;
const laterEvent = { ...event, branches: [laterPlaced, gone, added] } as const;

const record = {
  type: 'record',
  name: 'Report',
  doc: 'Report.',
  fields: [
    { name: 'sequence', type: 'long', doc: 'Number.' },
    { name: 'previous', type: ['null', hash], doc: 'Hash.', default: null },
    { name: 'events', type: { type: 'array', items: event }, doc: 'Events.' },
  ],
} as const satisfies AvroSchema;

const laterRecord = {
  ...record,
  fields: [
    { name: 'events', type: { type: 'array', items: laterEvent }, doc: 'Events.' },
    { name: 'extra', type: { type: 'array', items: added }, doc: 'New.', default: [] },
    { name: 'sequence', type: 'long', doc: 'Number.' },
    { name: 'previous', type: ['null', hash], doc: 'Hash.', default: null },
    { name: 'retries', type: 'int', doc: 'New.', default: 3 },
  ],
} as const satisfies AvroSchema;

/** Both versions under their ids, each able to fetch the other as the registry would give it. */
const stored = new Map<number, unknown>([
  [1, JSON.parse(JSON.stringify(toAvroJson(record)))],
  [2, JSON.parse(JSON.stringify(toAvroJson(laterRecord)))],
]);
const fetchSchema = async (id: number) => stored.get(id) ?? null;
const older = openRecordCodec(record, 1, fetchSchema);
const newer = openRecordCodec(laterRecord, 2, fetchSchema);

const id = Buffer.from([1, 2, 3, 4]);

describe('a record of another version', () => {
  test('from before gets the defaults of new fields', async () => {
    const bytes = older.encode({
      sequence: 7,
      previous: id,
      events: [
        { kind: 'Placed', id, side: 'SELL' },
        { kind: 'Gone', id },
      ],
    });
    await newer.prepare(bytes);
    expect(newer.decode(bytes)).toEqual({
      events: [
        { kind: 'Placed', id, note: null, side: 'SELL' },
        { kind: 'Gone', id },
      ],
      extra: [],
      sequence: 7,
      previous: id,
      retries: 3,
    });
  });

  test('from later loses fields not known here, and unknown symbols become the default', async () => {
    const bytes = newer.encode({
      events: [{ kind: 'Placed', id, note: 'hello', side: 'BOTH' }],
      extra: [{ at: 1 }],
      sequence: 8,
      previous: null,
      retries: 9,
    });
    await older.prepare(bytes);
    expect(older.decode(bytes)).toEqual({
      sequence: 8,
      previous: null,
      events: [{ kind: 'Placed', id, side: 'BUY' }],
    });
  });

  test('from later is unreadable when it says something of a kind not known here', async () => {
    const events = [{ kind: 'Added', at: 5 }] as const;
    const bytes = newer.encode({ events, extra: [], sequence: 9, previous: null, retries: 0 });
    await older.prepare(bytes);
    expect(() => older.decode(bytes)).toThrow(AvroError);
    expect(() => older.decode(bytes)).toThrow(/kind not known/);
  });

  test('that differs in its documentation alone is read as one of the own version', async () => {
    const documented = { ...record, doc: 'A report.' } as const;
    const reader = openRecordCodec(documented, 0, fetchSchema, ['Gone']);
    const bytes = [1, 2].map((byte) =>
      older.encode({
        sequence: byte,
        previous: null,
        events: [{ kind: 'Gone', id: Buffer.alloc(4, byte) }],
      }),
    );
    const [first, second] = bytes as [Buffer, Buffer];
    await reader.prepare(first);
    expect(reader.fingerprintOf(first)).toEqual(older.fingerprint);
    const [event] = reader.decode(first).events;
    expect(event).toEqual({ kind: 'Gone', id: Buffer.alloc(4, 1) });
    // Only the own codec uses the memory of an event again.
    expect(reader.decode(second).events[0]).toBe(event);
  });

  test('is read as avsc resolves it', async () => {
    const types = [1, 2].map((one) => avsc.Type.forSchema(stored.get(one) as avsc.Schema));
    const [olderType, newerType] = types as [avsc.Type, avsc.Type];
    const bytes = newer.encode({
      events: [{ kind: 'Gone', id }],
      extra: [],
      sequence: 10,
      previous: id,
      retries: 1,
    });
    await older.prepare(bytes);
    const resolved = olderType.fromBuffer(bytes.subarray(5), olderType.createResolver(newerType));
    expect(older.decode(bytes)).toMatchObject({
      sequence: resolved.sequence,
      previous: resolved.previous,
      events: [{ kind: 'Gone', id: resolved.events[0].gone.id }],
    });
  });

  test('that only differs in its id is read the same, for every topic', async () => {
    for (const topic of Object.values(topics)) {
      const json = JSON.parse(JSON.stringify(toAvroJson(topic.value)));
      const schema: AvroSchema = topic.value;
      const codec = openRecordCodec(schema, 1, async () => json);
      const foreign = Buffer.from([0, 0, 0, 0, 2, 0xff]);
      await codec.prepare(foreign);
      // Not "written under schema 2: ...": the schema converted, only the bytes are nothing.
      expect(() => codec.decode(foreign)).toThrow(/^(?!written under)/);
    }
  });

  test.each([
    ['a text', '"string"'],
    [
      'another record',
      { type: 'record', name: 'X', fields: [{ name: 'sequence', type: 'string' }] },
    ],
    [
      'a larger fixed',
      {
        type: 'record',
        name: 'X',
        fields: [{ name: 'previous', type: ['null', { type: 'fixed', name: 'H', size: 5 }] }],
      },
    ],
    [
      'a wide union',
      { type: 'record', name: 'X', fields: [{ name: 'a', type: ['null', 'int', 'string'] }] },
    ],
    ['a name without a type', { type: 'record', name: 'X', fields: [{ name: 'a', type: 'Y' }] }],
    ['itself for ever', { type: 'record', name: 'X', fields: [{ name: 'a', type: 'X' }] }],
    [
      'a fixed of negative size',
      {
        type: 'record',
        name: 'X',
        fields: [{ name: 'a', type: { type: 'fixed', name: 'F', size: -1 } }],
      },
    ],
    [
      'an enum of nothing',
      { type: 'record', name: 'X', fields: [{ name: 'a', type: { type: 'enum', name: 'E' } }] },
    ],
    ['nothing', null],
    ['a number', 5],
  ])('whose schema is %s is unreadable, not a crash', async (_, json) => {
    const codec = openRecordCodec(record, 1, async () => json);
    const bytes = Buffer.from([0, 0, 0, 0, 9, 2, 0, 0]);
    await codec.prepare(bytes);
    expect(() => codec.decode(bytes)).toThrow(AvroError);
  });
});
