import { createHash } from 'node:crypto';
import { type ObjectStore, sha256Of } from '@pm/kit/objects';
import { type SignOffKey, type Verifier, verifierFor } from '../signoff/keys.ts';

/**
 * An object as it is stored:
 *
 *     | content | magic 8 | key id 8 | signature 64 |
 *
 * The signature covers the name and the whole content: an object that was cut, changed or put under another name is
 * found out before anything of its content is read. Whoever may write to the store, and has not the key, can take
 * objects away and nothing else.
 */
const magic = Buffer.from('PMOBJ001', 'latin1');
const trailerBytes = 80;
const at = { keyId: 8, signature: 16 };
/** No record that the same key signs begins like this. */
const context = Buffer.from('prediction exchange, object of a store\n', 'latin1');

/** Content of an object whose seal is sound, else why there is none. */
export type UnsealedObject = Buffer | 'absent' | 'unproven';

/** Checks seals of the key with this id; null for a key whose objects do not count. */
export type FindVerifier = (keyId: Buffer) => Verifier | null;

/** Objects that one key seals and that count under its seal, or under that of another key that counts. */
export class SealedObjects {
  readonly #store: ObjectStore;
  readonly #key: SignOffKey;
  readonly #isSigned: Verifier;
  readonly #others: FindVerifier;

  constructor(store: ObjectStore, key: SignOffKey, others: FindVerifier = () => null) {
    this.#store = store;
    this.#key = key;
    this.#isSigned = verifierFor(key.publicKey);
    this.#others = others;
  }

  /** Rejects with the faults of `ObjectStore.put`. */
  async put(name: string, parts: readonly Buffer[]): Promise<void> {
    const trailer = Buffer.alloc(trailerBytes);
    magic.copy(trailer);
    this.#key.keyId.copy(trailer, at.keyId);
    this.#key.sign(await signedBytes(name, parts)).copy(trailer, at.signature);
    await this.#store.put(name, [...parts, trailer]);
  }

  /** Rejects with the faults of `ObjectStore.get`. */
  async get(name: string): Promise<UnsealedObject> {
    const bytes = await this.#store.get(name);
    if (bytes === null) return 'absent';
    if (bytes.length < trailerBytes) return 'unproven';
    const content = bytes.subarray(0, bytes.length - trailerBytes);
    const trailer = bytes.subarray(content.length);
    if (!trailer.subarray(0, at.keyId).equals(magic)) return 'unproven';
    const isSigned = this.#verifierOf(trailer.subarray(at.keyId, at.signature));
    if (isSigned === null) return 'unproven';
    const signed = await signedBytes(name, [content]);
    return isSigned(signed, trailer.subarray(at.signature)) ? content : 'unproven';
  }

  #verifierOf(keyId: Buffer): Verifier | null {
    return keyId.equals(this.#key.keyId) ? this.#isSigned : this.#others(keyId);
  }

  /** Rejects with the faults of `ObjectStore.list`. */
  list(folder: string): Promise<readonly string[]> {
    return this.#store.list(folder);
  }

  /** Rejects with the faults of `ObjectStore.delete`. */
  delete(name: string): Promise<void> {
    return this.#store.delete(name);
  }
}

async function signedBytes(name: string, parts: readonly Buffer[]): Promise<Buffer> {
  const nameHash = createHash('sha256').update(name).digest();
  return Buffer.concat([context, nameHash, await sha256Of(parts)]);
}
