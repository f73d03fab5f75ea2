import fc from 'fast-check';
import {
  readSeal,
  type Seal,
  type SealedRecord,
  sealHeader,
  sealRecord,
  signedBytes,
} from '../../src/authority/seal.ts';
import { openSignOffKey, verifierFor } from '../../src/signoff/keys.ts';

const key = openSignOffKey(Buffer.alloc(32, 1));
const verify = verifierFor(key.publicKey);
const bytes = (max: number) => fc.uint8Array({ maxLength: max }).map((one) => Buffer.from(one));
const place = { writer: Buffer.alloc(8, 7), sequence: 5 };

const records: fc.Arbitrary<SealedRecord> = fc.record({
  topic: fc.string({ minLength: 1, maxLength: 20 }),
  partition: fc.nat(1_000),
  key: fc.option(bytes(40), { nil: null }),
  value: fc.option(bytes(200), { nil: null }),
});

function read(header: Buffer): Seal {
  const seal = readSeal({ headers: { [sealHeader]: header } });
  if (seal === null || seal === 'malformed') throw new Error('not a seal');
  return seal;
}

function holds(header: Buffer, record: SealedRecord): boolean {
  const seal = readSeal({ headers: { [sealHeader]: header } });
  if (seal === null || seal === 'malformed') return false;
  return (
    seal.keyId === key.keyId.toString('hex') &&
    verify(signedBytes(seal.head, record), seal.signature)
  );
}

test('a seal holds for its record and says who wrote it', () => {
  fc.assert(
    fc.property(records, fc.maxSafeNat(), (record, sequence) => {
      const header = sealRecord(key, { writer: place.writer, sequence }, record);
      expect(holds(header, record)).toBe(true);
      expect(read(header)).toMatchObject({ writer: '07'.repeat(8), sequence });
    }),
  );
});

test('a seal with any changed bit does not hold', () => {
  fc.assert(
    fc.property(records, fc.nat(88), fc.nat(7), (record, at, bit) => {
      const header = sealRecord(key, place, record);
      header.writeUInt8((header[at] ?? 0) ^ (1 << bit), at);
      expect(holds(header, record)).toBe(false);
    }),
  );
});

test('a seal does not hold for a record that differs in anything', () => {
  fc.assert(
    fc.property(records, records, (record, other) => {
      const header = sealRecord(key, place, record);
      for (const field of ['topic', 'partition', 'key', 'value'] as const) {
        const changed = { ...record, [field]: other[field] };
        const isSame =
          field === 'key' || field === 'value'
            ? isSameBytes(record[field], other[field])
            : record[field] === other[field];
        expect(holds(header, changed)).toBe(isSame);
      }
    }),
  );
});

test('bytes that move from the key to the value break the seal', () => {
  const record = { topic: 't', partition: 0, key: Buffer.from('ab'), value: Buffer.from('cd') };
  const header = sealRecord(key, place, record);
  const moved = { ...record, key: Buffer.from('abc'), value: Buffer.from('d') };
  expect(holds(header, moved)).toBe(false);
  expect(holds(header, { ...record, value: null })).toBe(false);
});

test('a header that is not a seal is malformed, and none is null', () => {
  const header = sealRecord(key, place, { topic: 't', partition: 0, key: null, value: null });
  const endless = Buffer.from(header);
  endless.writeBigUInt64BE(1n << 60n, 17);
  for (const wrong of [
    Buffer.alloc(0),
    header.subarray(1),
    Buffer.concat([header, header]),
    endless,
  ])
    expect(readSeal({ headers: { [sealHeader]: wrong } })).toBe('malformed');
  expect(readSeal({})).toBeNull();
  expect(readSeal({ headers: { other: header } })).toBeNull();
});

function isSameBytes(a: Buffer | null, b: Buffer | null): boolean {
  return a === null || b === null ? a === b : a.equals(b);
}
