import { keyIdOf, type Verifier, verifierFor } from '@pm/domain/signoff/keys';
import { verifySealed } from '@pm/domain/signoff/records';
import { present } from '@pm/kit/assert';
import { Fault } from '@pm/kit/fault';
import type { RecordCodec } from '@pm/kit/registry';
import {
  AvroError,
  type CommandOf,
  compileCodec,
  type Envelope,
  type EventOf,
  envelope as envelopeSchema,
  envelopeSignatureBytes,
  type KeyRole,
  registryHeaderBytes,
} from '@pm/schemas';

export type RejectReason = EventOf<'RecordRejected'>['reason'];

/** What a partition's state says about keys; the engine has it. */
export interface KeyBook {
  readonly opened: boolean;
  signOffKey(keyId: Buffer): {
    readonly publicKey: Buffer;
    readonly role: KeyRole;
    readonly active: boolean;
  } | null;
}

/** Who a record says it is from: copied into the output. */
export interface Sender {
  readonly keyId: Buffer;
  readonly sequence: number;
}

/** What a record is: commands to carry out, a rejection, or bytes of a schema that has to be fetched first. */
export type Judgement =
  | { readonly kind: 'accepted'; readonly sender: Sender; readonly envelope: Envelope }
  | { readonly kind: 'rejected'; readonly sender: Sender; readonly reason: RejectReason }
  | { readonly kind: 'schema_unknown' };

interface EnvelopeSourceOptions {
  readonly partition: number;
  /** Raw public key that alone may open the partition. */
  readonly operatorKey: Buffer;
  readonly codec: Pick<RecordCodec<Envelope>, 'decode' | 'knows' | 'prepare'>;
  roleAllows(role: KeyRole, envelope: Envelope): boolean;
}

/** Sender of a record that cannot be read. */
const noSender: Sender = { keyId: Buffer.alloc(8), sequence: -1 };

/** Keys whose verifier is kept. A partition knows some tens; beyond this the cache starts anew. */
const verifiersMax = 1_024;

/** What the codec says about a `oneOf` none of whose branches it knows. */
const unknownKind = /of a kind not known here$/;

const [signatureField, keyIdField, partitionField, sequenceField] = envelopeSchema.fields;
const headCodec = compileCodec({
  type: 'record',
  name: 'EnvelopeHead',
  doc: 'The fields before the commands; their layout never changes.',
  fields: [signatureField, keyIdField, partitionField, sequenceField],
} as const);

/** Where the varints behind signature and key id begin, and how many bytes one may have. */
const varintsAt = registryHeaderBytes + envelopeSignatureBytes + 8;
const varintBytesMax = 10;

/**
 * Reads records of `orders`: the sign-off is judged on the raw bytes before the commands are decoded. So whoever has no
 * key can neither make the codec work, nor ask the registry, nor pass for a newer version; and the verdict on a forged
 * record is the same for every version of the commands, which a replay after an upgrade relies on.
 */
export class EnvelopeSource {
  readonly #options: EnvelopeSourceOptions;
  readonly #verifiers = new Map<string, Verifier>();

  constructor(options: EnvelopeSourceOptions) {
    this.#options = options;
  }

  /** Throws `newer_record` (release): signed by a known key, of a kind only a newer version knows. */
  judge(keys: KeyBook, value: Buffer | null): Judgement {
    if (value === null || value[0] !== 0) return rejected(noSender, 'UNREADABLE');
    const head = readHead(value);
    if (head === null) return rejected(noSender, 'UNREADABLE');
    if (head.partition !== this.#options.partition) return rejected(head, 'WRONG_PARTITION');
    if (!keys.opened) return this.#judgeOpening(head, value);
    const key = keys.signOffKey(head.keyId);
    if (key === null || !key.active) return rejected(head, 'UNKNOWN_KEY');
    if (!verifySealed(value, this.#verifier(head.keyId, key.publicKey))) {
      return rejected(head, 'BAD_SIGNATURE');
    }
    if (!this.#options.codec.knows(value)) return { kind: 'schema_unknown' };
    const envelope = this.#decode(value);
    if (envelope === null) return rejected(noSender, 'UNREADABLE');
    if (!this.#options.roleAllows(key.role, envelope)) return rejected(head, 'NOT_ALLOWED');
    return { kind: 'accepted', sender: head, envelope };
  }

  /** Fetches the schema of a record that was `schema_unknown`. Throws `registry_unavailable` (retry). */
  prepare(value: Buffer): Promise<void> {
    return this.#options.codec.prepare(value);
  }

  /** Before the partition is opened only its opening counts, signed by the operator this process is told to trust. */
  #judgeOpening(head: Head, value: Buffer): Judgement {
    const { operatorKey, codec, roleAllows } = this.#options;
    if (!keyIdOf(operatorKey).equals(head.keyId)) return rejected(head, 'NOT_OPENED');
    if (!verifySealed(value, this.#verifier(head.keyId, operatorKey))) {
      return rejected(head, 'BAD_SIGNATURE');
    }
    if (!codec.knows(value)) return { kind: 'schema_unknown' };
    const envelope = this.#decode(value);
    if (envelope === null) return rejected(noSender, 'UNREADABLE');
    const opening = openingOf(envelope);
    if (opening === null || !opening.operatorKey.equals(operatorKey)) {
      return rejected(head, 'NOT_OPENED');
    }
    if (!roleAllows('OPERATOR', envelope)) return rejected(head, 'NOT_ALLOWED');
    return { kind: 'accepted', sender: head, envelope };
  }

  #decode(value: Buffer): Envelope | null {
    try {
      return this.#options.codec.decode(value);
    } catch (error) {
      if (!(error instanceof AvroError)) throw error;
      if (!unknownKind.test(error.message)) return null;
      throw new Fault('newer_record', 'release', {
        facts: { partition: this.#options.partition, schemaId: value.readUInt32BE(1) },
        cause: error,
      });
    }
  }

  #verifier(keyId: Buffer, publicKey: Buffer): Verifier {
    const name = keyId.toString('latin1');
    const known = this.#verifiers.get(name);
    if (known !== undefined) return known;
    if (this.#verifiers.size >= verifiersMax) this.#verifiers.clear();
    const verifier = verifierFor(publicKey);
    this.#verifiers.set(name, verifier);
    return verifier;
  }
}

interface Head extends Sender {
  readonly partition: number;
}

/** The fields before the commands, or `null` for bytes that have none. The key id is a copy: it outlives the record. */
function readHead(value: Buffer): Head | null {
  const end = varintEnd(value, varintEnd(value, varintsAt));
  if (end < 0) return null;
  try {
    const head = headCodec.decode(value.subarray(0, end), registryHeaderBytes);
    return {
      keyId: Buffer.from(head.keyId),
      partition: head.partition,
      sequence: head.sequence,
    };
  } catch (error) {
    if (error instanceof AvroError) return null;
    throw error;
  }
}

/** The offset behind the varint that begins at `start`, or -1 when it does not end. */
function varintEnd(value: Buffer, start: number): number {
  if (start < 0) return -1;
  const last = Math.min(value.length, start + varintBytesMax);
  for (let at = start; at < last; at += 1) {
    if ((value[at] ?? 0) < 0x80) return at + 1;
  }
  return -1;
}

function openingOf(envelope: Envelope): CommandOf<'OpenPartition'> | null {
  if (envelope.commands.length === 0) return null;
  const first = present(envelope.commands[0], 'the first command');
  return first.kind === 'OpenPartition' ? first : null;
}

function rejected({ keyId, sequence }: Sender, reason: RejectReason): Judgement {
  return { kind: 'rejected', sender: { keyId, sequence }, reason };
}
