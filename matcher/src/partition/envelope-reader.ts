import { keyIdOf, type Verifier, verifierFor } from '@pm/domain/signoff/keys';
import { type SealedBytes, SealedBytesReader, verifySealed } from '@pm/domain/signoff/records';
import { present } from '@pm/kit/assert';
import { Fault } from '@pm/kit/fault';
import { AvroError } from '@pm/schemas/avro/bytes';
import { compileCodec } from '@pm/schemas/avro/codec';
import { clockLeapMaxMs, rules } from '@pm/schemas/log/log-rules';
import {
  type CommandOf,
  type Envelope,
  envelope as envelopeSchema,
  envelopeSignatureBytes,
} from '@pm/schemas/log/orders';
import { registryHeaderBytes } from '@pm/schemas/log/topics';
import {
  type Engine,
  maySign,
  type RejectReason,
  type SignOffKey,
  signerOf,
} from '../core/index.ts';

/** The keys that the partition's state lists, and what they are judged by. */
type KnownKeys = Pick<
  Engine,
  'opened' | 'operatorKey' | 'rules' | 'newestRules' | 'signOffKey' | 'timeMs' | 'witnessMs'
>;

/** The sender that a record names: copied into the output. */
interface Sender {
  readonly keyId: Buffer;
  readonly sequence: number;
}

/** The content of a record: commands to apply, a rejection, or bytes of a schema that has to be fetched first. */
export type EnvelopeReading =
  | { readonly kind: 'accepted'; readonly sender: Sender; readonly envelope: Envelope }
  | { readonly kind: 'rejected'; readonly sender: Sender; readonly reason: RejectReason }
  | { readonly kind: 'schema_unknown' };

/** The sign-off of a record under one key and one schema; whether it holds depends on nothing else. */
export interface Seal {
  /** Raw, 32 bytes. */
  readonly publicKey: Buffer;
  readonly fingerprint: Buffer;
}

/** A sign-off that was checked before its record is read. */
export interface CheckedSeal extends Seal {
  readonly holds: boolean;
}

/** Facts about a record that are known before it is read. */
export interface ReadingHints {
  /**
   * The schema was fetched for this record. Without that, a schema that was not registered when an earlier record named
   * it is not known: it may be that of a newer sender by now.
   */
  readonly isPrepared?: boolean;
  /** Counts only when the record is judged by that key and schema. */
  readonly checked?: CheckedSeal | null;
}

interface EnvelopeReaderOptions {
  readonly partition: number;
  /** Raw public key that alone may open the partition. */
  readonly operatorKey: Buffer;
  /** That of the topic `orders`, as `RecordCodec` describes it. */
  readonly codec: {
    decode(bytes: Buffer): Envelope;
    knows(bytes: Buffer): boolean;
    fingerprintOf(bytes: Buffer): Buffer | null;
  };
}

/** Sender of a record that cannot be read. */
const noSender: Sender = { keyId: Buffer.alloc(8), sequence: -1 };

/** Keys whose verifier is cached. A partition has some tens; beyond this limit the cache is emptied. */
const verifiersMax = 1_024;

/** Error of the codec for a `oneOf` none of whose branches it knows. */
const unknownKind = /of a kind not known here$/;

const [signatureField, keyIdField, partitionField, sequenceField] = envelopeSchema.fields;
const headCodec = compileCodec({
  type: 'record',
  name: 'EnvelopeHead',
  doc: 'The fields before the commands; their layout never changes.',
  fields: [signatureField, keyIdField, partitionField, sequenceField],
} as const);

/** Where the varints after signature and key id begin, and how many bytes one may have. */
const varintsAt = registryHeaderBytes + envelopeSignatureBytes + 8;
const varintBytesMax = 10;

/**
 * Reads records of `orders`: the sign-off is verified on the raw bytes before the commands are decoded. So a sender
 * without a key can neither make the codec work nor pass for a newer version; and a forged record is rejected for the
 * same reason by every version of the commands, which a replay after an upgrade relies on. A record that names a listed
 * key and an unknown schema causes one look at the end of `service-keys`.
 */
export class EnvelopeReader {
  readonly #options: EnvelopeReaderOptions;
  readonly #verifiers = new Map<string, Verifier>();
  readonly #sealedBytes = new SealedBytesReader();

  constructor(options: EnvelopeReaderOptions) {
    this.#options = options;
  }

  /**
   * Throws `newer_record` (release) for a record that a known key signed and whose commands only a newer version knows,
   * and for rules of a newer version.
   */
  read(
    keys: KnownKeys,
    value: Buffer | null,
    { isPrepared = false, checked = null }: ReadingHints = {},
  ): EnvelopeReading {
    if (value === null || value[0] !== 0) return rejected(noSender, 'UNREADABLE');
    const head = readHead(value);
    if (head === null) return rejected(noSender, 'UNREADABLE');
    if (head.partition !== this.#options.partition) return rejected(head, 'WRONG_PARTITION');
    if (!keys.opened) return this.#readOpening(keys, { head, value, isPrepared });
    const key = keys.signOffKey(head.keyId);
    if (key === null || !key.active) return rejected(head, 'UNKNOWN_KEY');
    const verifier = this.#verifier(head.keyId, key.publicKey);
    const hints = { isPrepared, checked: checkedBy(key, checked) };
    const sealed = this.#isSealed(value, verifier, { version: keys.rules, ...hints });
    if (sealed === null) return { kind: 'schema_unknown' };
    if (!sealed) return rejected(head, 'BAD_SIGNATURE');
    if (isUsed(head, key, keys.rules)) return rejected(head, 'OLD_SEQUENCE');
    const envelope = this.#decode(value);
    if (envelope === null) return rejected(noSender, 'UNREADABLE');
    const signer = signerOf(key, keys.operatorKey());
    if (!maySign(signer, envelope, keys.rules)) return rejected(head, 'NOT_ALLOWED');
    this.#assertKnown(envelope, { value, keys });
    if (key.role === 'OWNER' && isLeap(envelope, keys)) return rejected(head, 'CLOCK_LEAP');
    return { kind: 'accepted', sender: head, envelope };
  }

  /**
   * The check of the sign-off that `read` makes of this record while the keys stay as they are, and what it is made of;
   * null when `read` comes to its judgement without one, or with another. The bytes are valid until the next call.
   */
  sealAhead(keys: KnownKeys, value: Buffer | null): (Seal & SealedBytes) | null {
    if (value === null || value[0] !== 0 || !keys.opened) return null;
    if (keys.rules < rules.signedSchema) return null;
    const head = readHead(value);
    if (head === null || head.partition !== this.#options.partition) return null;
    const key = keys.signOffKey(head.keyId);
    const fingerprint = this.#options.codec.fingerprintOf(value);
    if (key === null || !key.active || fingerprint === null) return null;
    const seal = this.#sealedBytes.read(value, fingerprint);
    return seal && { ...seal, publicKey: Buffer.from(key.publicKey), fingerprint };
  }

  /**
   * Before the partition is opened only its opening counts, signed by the key that this process is configured to
   * trust.
   */
  #readOpening(
    keys: KnownKeys,
    { head, value, isPrepared }: { head: Head; value: Buffer; isPrepared: boolean },
  ): EnvelopeReading {
    const { operatorKey } = this.#options;
    if (!keyIdOf(operatorKey).equals(head.keyId)) return rejected(head, 'NOT_OPENED');
    const verifier = this.#verifier(head.keyId, operatorKey);
    const sealed = this.#isSealed(value, verifier, {
      version: 0,
      isPrepared,
      checked: null,
    });
    if (sealed === null) return { kind: 'schema_unknown' };
    if (!sealed) return rejected(head, 'BAD_SIGNATURE');
    const envelope = this.#decode(value);
    if (envelope === null) return rejected(noSender, 'UNREADABLE');
    const opening = openingOf(envelope);
    if (opening === null || !opening.operatorKey.equals(operatorKey)) {
      return rejected(head, 'NOT_OPENED');
    }
    if (!maySign('OPENING', envelope, 0)) return rejected(head, 'NOT_ALLOWED');
    this.#assertKnown(envelope, { value, keys });
    return { kind: 'accepted', sender: head, envelope };
  }

  /**
   * Whether the sign-off holds; null while the schema has to be fetched, without which nothing that is signed can be
   * judged. Before the rules say so, a signature over the bytes alone holds, too.
   */
  #isSealed(
    value: Buffer,
    verifier: Verifier,
    { version, isPrepared, checked }: Required<ReadingHints> & { readonly version: number },
  ): boolean | null {
    const { codec } = this.#options;
    const isOld = version < rules.signedSchema && verifySealed(value, verifier, null);
    if (!codec.knows(value)) return null;
    if (isOld) return true;
    const fingerprint = codec.fingerprintOf(value);
    if (fingerprint === null) return isPrepared ? false : null;
    if (checked?.fingerprint.equals(fingerprint) === true) return checked.holds;
    const seal = this.#sealedBytes.read(value, fingerprint);
    return seal !== null && verifier(seal.signed, seal.signature);
  }

  #decode(value: Buffer): Envelope | null {
    try {
      return this.#options.codec.decode(value);
    } catch (error) {
      if (!(error instanceof AvroError)) throw error;
      if (!unknownKind.test(error.message)) return null;
      throw this.#newer(value, { cause: error });
    }
  }

  /** Throws for rules that this version does not know. */
  #assertKnown(
    { commands }: Envelope,
    { value, keys }: { readonly value: Buffer; readonly keys: KnownKeys },
  ): void {
    for (const one of commands) {
      if (one.kind !== 'SetRules' || one.version <= keys.newestRules) continue;
      const facts = { rules: one.version, newestKnown: keys.newestRules };
      throw this.#newer(value, { facts });
    }
  }

  /** A record that only a newer version can judge. */
  #newer(value: Buffer, why: { facts?: Record<string, number>; cause?: unknown }): Fault {
    const { partition } = this.#options;
    const facts = { partition, schemaId: value.readUInt32BE(1), ...why.facts };
    return new Fault('newer_record', 'release', { ...why, facts });
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

/** The offset after the varint that begins at `start`, or -1 when it does not end. */
function varintEnd(value: Buffer, start: number): number {
  if (start < 0) return -1;
  const last = Math.min(value.length, start + varintBytesMax);
  for (let at = start; at < last; at += 1) {
    if ((value[at] ?? 0) < 0x80) return at + 1;
  }
  return -1;
}

/** The check that was made ahead, if it was made with this key. */
function checkedBy({ publicKey }: SignOffKey, checked: CheckedSeal | null): CheckedSeal | null {
  return checked?.publicKey.equals(publicKey) === true ? checked : null;
}

/** Whether the key has sent this envelope, or a later one of its run, before. */
function isUsed({ sequence }: Head, { used }: SignOffKey, version: number): boolean {
  return version >= rules.usedSequences && used.has(sequence);
}

/** Whether a tick is further ahead than the clock of the partition and the witnesses allow. */
function isLeap({ commands }: Envelope, { rules: version, timeMs, witnessMs }: KnownKeys): boolean {
  if (version < rules.witnessedClock) return false;
  const latestMs = Math.max(timeMs, witnessMs) + clockLeapMaxMs;
  return commands.some((command) => command.kind === 'Tick' && command.timeMs > latestMs);
}

function openingOf(envelope: Envelope): CommandOf<'OpenPartition'> | null {
  if (envelope.commands.length === 0) return null;
  const first = present(envelope.commands[0], 'the first command');
  return first.kind === 'OpenPartition' ? first : null;
}

function rejected({ keyId, sequence }: Sender, reason: RejectReason): EnvelopeReading {
  return { kind: 'rejected', sender: { keyId, sequence }, reason };
}
