import { createHash } from 'node:crypto';
import { openRecordCodec } from '@pm/kit/registry';
import { ByteWriter } from '@pm/schemas/avro/bytes';
import { compileCodec } from '@pm/schemas/avro/codec';
import { executionEvent } from '@pm/schemas/log/executions';
import type { Command } from '@pm/schemas/log/orders';
import { topics } from '@pm/schemas/log/topics';
import nacl from 'tweetnacl';
import { openSignOffKey, verifierFor } from '../../src/signoff/keys.ts';
import {
  checkChain,
  firstChain,
  sealEnvelope,
  sealExecution,
  sealWritten,
  verifySealed,
} from '../../src/signoff/records.ts';

const nothing = async () => null;
const orders = openRecordCodec(topics.orders.value, 7, nothing);
const executions = openRecordCodec(topics.executions.value, 9, nothing);
const key = openSignOffKey(Buffer.alloc(32, 3));
const verifier = verifierFor(key.publicKey);

const commands: readonly Command[] = [
  { kind: 'Tick', term: 0, timeMs: 1_700_000_000_000 },
  { kind: 'CancelOrder', orderId: Buffer.alloc(32, 1), signer: Buffer.alloc(20, 2) },
];

function seal(): Buffer {
  return sealEnvelope(orders, key, { partition: 3, sequence: 12, commands });
}

/** The value with one bit of the byte at `place` turned. */
function tampered(value: Buffer, place: number): Buffer {
  const copy = Buffer.from(value);
  copy[place] = (copy[place] ?? 0) ^ 0x01;
  return copy;
}

describe('an envelope', () => {
  test('is a golden vector: header, signature, key id, partition 3, sequence 12, two commands', () => {
    const value = seal();
    const digest = createHash('sha256').update(value).digest('hex');
    expect(value.subarray(0, 5).toString('hex')).toBe('0000000007');
    expect(value.subarray(69, 77)).toEqual(key.keyId);
    expect(value.subarray(77, 80).toString('hex')).toBe('061804');
    expect(value.length).toBe(172);
    expect(digest).toBe('546fd07094652c39455395af3df442b35f419106752a229167b82b32d785d071');
  });

  test('is signed over the fingerprint of its schema and every byte after the signature, as tweetnacl verifies it', () => {
    const value = seal();
    const [signature, signed] = [value.subarray(5, 69), value.subarray(69)];
    const message = Buffer.concat([orders.fingerprint, signed]);
    expect(nacl.sign.detached.verify(message, signature, key.publicKey)).toBe(true);
    expect(verifySealed(value, verifier, orders.fingerprint)).toBe(true);
  });

  test('decodes to what was sealed', () => {
    expect(orders.decode(seal())).toEqual({
      signature: seal().subarray(5, 69),
      keyId: key.keyId,
      partition: 3,
      sequence: 12,
      commands,
    });
  });

  test('is refused when any single byte after the header was changed', () => {
    const value = seal();
    for (let place = 5; place < value.length; place += 1) {
      expect([place, verifySealed(tampered(value, place), verifier, orders.fingerprint)]).toEqual([
        place,
        false,
      ]);
    }
  });

  test('is refused when it was cut or lengthened, at any place', () => {
    const value = seal();
    for (let length = 0; length < value.length; length += 1) {
      expect(verifySealed(value.subarray(0, length), verifier, orders.fingerprint)).toBe(false);
    }
    expect(
      verifySealed(Buffer.concat([value, Buffer.alloc(1)]), verifier, orders.fingerprint),
    ).toBe(false);
  });
});

describe('the chain of executions', () => {
  const body = { timeMs: 5, keyId: key.keyId, sequence: 1, events: [] };
  const first = sealExecution(executions, firstChain, { ...body, inOffset: 0 });
  const second = sealExecution(executions, first.chain, { ...body, inOffset: 1 });

  test('starts with 32 zero bytes and covers each body', () => {
    const hash = (before: Buffer, value: Buffer) =>
      createHash('sha256').update(before).update(value.subarray(37)).digest();
    expect(first.chain).toEqual(hash(Buffer.alloc(32), first.value));
    expect(second.chain).toEqual(hash(first.chain, second.value));
    expect(executions.decode(second.value)).toMatchObject({ chain: second.chain, inOffset: 1 });
  });

  test('holds for each record after its own predecessor only', () => {
    expect(checkChain(first.value, firstChain)).toBe(true);
    expect(checkChain(second.value, first.chain)).toBe(true);
    expect(checkChain(second.value, firstChain)).toBe(false);
    expect(checkChain(first.value, first.chain)).toBe(false);
  });

  test('breaks when any single byte after the header was changed, or the record was cut', () => {
    for (let place = 5; place < second.value.length; place += 1) {
      expect(checkChain(tampered(second.value, place), first.chain)).toBe(false);
    }
    for (let length = 0; length < second.value.length; length += 1) {
      expect(checkChain(second.value.subarray(0, length), first.chain)).toBe(false);
    }
  });

  test('gives the same bytes for the same input, so that a replay is equal', () => {
    const again = sealExecution(executions, first.chain, { ...body, inOffset: 1 });
    expect(again.value).toEqual(second.value);
  });
});

describe('an execution of events that were written already', () => {
  const events = [
    { kind: 'TopChanged', market: 3, bid: 100, ask: 200 },
    { kind: 'RecordRejected', reason: 'UNREADABLE' },
  ] as const;

  test.each([0, 1, 2, 200])('is the same bytes as of %d events as values', (length) => {
    const many = Array.from({ length }, (_, index) => events[index % 2] ?? events[0]);
    const to = new ByteWriter(16);
    for (const event of many) compileCodec(executionEvent).write(event, to);
    const head = { inOffset: 12, timeMs: 1_700_000_000_000, keyId: key.keyId, sequence: 4 };
    const written = { length, bytes: () => to.buffer.subarray(0, to.position) };
    const previous = createHash('sha256').update('before').digest();
    expect(sealWritten(executions, previous, { head, written })).toEqual(
      sealExecution(executions, previous, { ...head, events: many }),
    );
  });
});
