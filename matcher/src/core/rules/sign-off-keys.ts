import type { KeyRole } from '@pm/schemas';
import { copyOf } from '../state/interned.ts';
import { sha256 } from './sha256.ts';

export interface SignOffKey {
  /** Raw Ed25519, 32 bytes. */
  readonly publicKey: Buffer;
  readonly role: KeyRole;
  readonly active: boolean;
  /** The sequence of its last accepted envelope; -1 before the first, and before there were such rules. */
  readonly lastSequence: number;
}

/** A key whose envelopes are counted. */
type Used = Omit<SignOffKey, 'lastSequence'> & { lastSequence: number };

/** The keys that records may be signed with. They are set by the log, so a replay accepts exactly what was accepted. */
export class SignOffKeys {
  private readonly byId = new Map<string, Used>();

  find(keyId: Buffer): SignOffKey | null {
    return this.byId.get(keyId.toString('latin1')) ?? null;
  }

  /** Adds or changes a key and gives its id, or null when another key has the same id. */
  set(publicKey: Buffer, role: KeyRole, active: boolean): Buffer | null {
    const keyId = keyIdOf(publicKey);
    const known = this.find(keyId);
    if (known !== null && !known.publicKey.equals(publicKey)) return null;
    const lastSequence = known?.lastSequence ?? -1;
    const key = { publicKey: copyOf(publicKey), role, active, lastSequence };
    this.byId.set(keyId.toString('latin1'), key);
    return keyId;
  }

  /** Envelopes of the key up to this sequence count as used. */
  use(keyId: Buffer, sequence: number): void {
    const key = this.byId.get(keyId.toString('latin1'));
    if (key !== undefined && sequence > key.lastSequence) key.lastSequence = sequence;
  }

  /** Envelopes of every listed key up to this sequence count as used. */
  useAll(sequence: number): void {
    for (const key of this.byId.values()) {
      key.lastSequence = Math.max(key.lastSequence, sequence);
    }
  }

  /** By id. */
  inOrder(): SignOffKey[] {
    return [...this.byId].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, key]) => key);
  }
}

/** The first 8 bytes of the SHA-256 of a raw public key (schemas: KeyId8). */
export function keyIdOf(publicKey: Buffer): Buffer {
  return copyOf(sha256(publicKey).subarray(0, 8));
}
