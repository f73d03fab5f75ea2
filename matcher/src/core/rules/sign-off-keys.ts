import type { KeyRole } from '@pm/schemas';
import { copyOf } from '../state/interned.ts';
import { sha256 } from './sha256.ts';

export interface SignOffKey {
  /** Raw Ed25519, 32 bytes. */
  readonly publicKey: Buffer;
  readonly role: KeyRole;
  readonly active: boolean;
}

/** The keys that records may be signed with. They are set by the log, so a replay accepts exactly what was accepted. */
export class SignOffKeys {
  private readonly byId = new Map<string, SignOffKey>();

  find(keyId: Buffer): SignOffKey | null {
    return this.byId.get(keyId.toString('latin1')) ?? null;
  }

  /** Adds or changes a key and gives its id, or null when another key has the same id. */
  set(publicKey: Buffer, role: KeyRole, active: boolean): Buffer | null {
    const keyId = keyIdOf(publicKey);
    const known = this.find(keyId);
    if (known !== null && !known.publicKey.equals(publicKey)) return null;
    this.byId.set(keyId.toString('latin1'), { publicKey: copyOf(publicKey), role, active });
    return keyId;
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
