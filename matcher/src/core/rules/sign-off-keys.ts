import type { KeyRole } from '@pm/schemas/log/types';
import { copyOf } from '../state/interned.ts';
import { sha256 } from './sha256.ts';
import { UsedSequences } from './used-sequences.ts';

export interface SignOffKey {
  /** Raw Ed25519, 32 bytes. */
  readonly publicKey: Buffer;
  readonly role: KeyRole;
  readonly active: boolean;
  /** The sequences of its accepted envelopes; none before there were such rules. */
  readonly used: Pick<UsedSequences, 'has' | 'floor' | 'newest'>;
}

/** A key whose envelopes are counted. */
type CountedKey = Omit<SignOffKey, 'used'> & { readonly used: UsedSequences };

/** The keys that records may be signed with. They are set by the log, so a replay accepts exactly what was accepted. */
export class SignOffKeys {
  private readonly byId = new Map<string, CountedKey>();
  /** The last one found and its id: records of one sender follow each other. */
  private last: CountedKey | null = null;
  private readonly lastId = Buffer.alloc(keyIdBytes);

  find(keyId: Buffer): SignOffKey | null {
    return this.counted(keyId);
  }

  private counted(keyId: Buffer): CountedKey | null {
    if (this.last !== null && sameBytes(this.lastId, keyId)) return this.last;
    const found = this.byId.get(keyId.toString('latin1')) ?? null;
    if (keyId.length !== keyIdBytes) return found;
    this.last = found;
    this.lastId.set(keyId);
    return found;
  }

  /**
   * Adds or changes a key and gives its id, or null when another key has the same id. `used` is that of a key which a
   * snapshot adds.
   */
  set(
    publicKey: Buffer,
    role: KeyRole,
    active: boolean,
    used: UsedSequences = new UsedSequences(),
  ): Buffer | null {
    const keyId = keyIdOf(publicKey);
    const name = keyId.toString('latin1');
    const known = this.byId.get(name);
    if (known !== undefined && !known.publicKey.equals(publicKey)) return null;
    const key = { publicKey: copyOf(publicKey), role, active, used: known?.used ?? used };
    this.byId.set(name, key);
    this.last = null;
    return keyId;
  }

  /** The key has used a sequence that it had not used. */
  use(keyId: Buffer, sequence: number): void {
    this.counted(keyId)?.used.add(sequence);
  }

  /** Envelopes of every listed key up to this sequence count as used. */
  useAll(sequence: number): void {
    for (const { used } of this.byId.values()) used.addAllTo(sequence);
  }

  /** By id. */
  inOrder(): SignOffKey[] {
    return [...this.byId].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, key]) => key);
  }
}

const keyIdBytes = 8;

function sameBytes(one: Buffer, other: Buffer): boolean {
  if (other.length !== keyIdBytes) return false;
  for (let at = 0; at < keyIdBytes; at += 1) {
    if (one[at] !== other[at]) return false;
  }
  return true;
}

/** The first 8 bytes of the SHA-256 of a raw public key (schemas: KeyId8). */
export function keyIdOf(publicKey: Buffer): Buffer {
  return copyOf(sha256(publicKey).subarray(0, 8));
}
