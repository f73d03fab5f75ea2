import { createCipheriv, createDecipheriv, randomBytes, scryptSync } from 'node:crypto';
import { StackError } from '@pm/deploy/local/stack-error';
import { type Static, Type } from 'typebox';
import { Value } from 'typebox/value';

/**
 * The bundle of a backup, encrypted and authenticated by a passphrase:
 *
 *     | magic 8 | salt 16 | nonce 12 | tag 16 | AES-256-GCM of the JSON text |
 *
 * The key comes from the passphrase by scrypt (N = 2^17, r = 8, p = 1: about 128 MiB and a third of a second a try).
 */
const magic = Buffer.from('PMBACK01', 'latin1');
const at = { salt: 8, nonce: 24, tag: 36, text: 52 };
const cost = { N: 2 ** 17, r: 8, p: 1, maxmem: 256 * 1024 * 1024 };
const keyBytes = 32;

/** A shorter one can be guessed by who has the backup. */
const passphraseCharsMin = 16;

const Bundle = Type.Object({
  format: Type.Literal(1),
  madeAt: Type.String(),
  /** Raw public half of the root key, hex: the identity of the installation. */
  rootKey: Type.String({ pattern: '^[0-9a-f]{64}$' }),
  /** Files of the data folder by name, base64. */
  files: Type.Record(Type.String({ pattern: '^[a-z-]+\\.json$' }), Type.String()),
  /** Objects of the backup: snapshots and checkpoints. */
  objects: Type.Array(
    Type.Object({
      name: Type.String(),
      bytes: Type.Integer({ minimum: 0 }),
      sha256: Type.String({ pattern: '^[0-9a-f]{64}$' }),
    }),
  ),
});

/** Files that cannot be made again from the log, and the digests of the objects of the backup. */
export type Bundle = Static<typeof Bundle>;

/** Encrypts a bundle. Throws a `StackError` for a passphrase that is too short. */
export function sealBundle(bundle: Bundle, passphrase: string): Buffer {
  if (passphrase.length < passphraseCharsMin)
    throw new StackError(
      'BAD_DESCRIPTION',
      `the passphrase has fewer than ${passphraseCharsMin} characters`,
    );
  const [salt, nonce] = [randomBytes(at.nonce - at.salt), randomBytes(at.tag - at.nonce)];
  const cipher = createCipheriv('aes-256-gcm', keyOf(passphrase, salt), nonce).setAAD(magic);
  const text = Buffer.concat([cipher.update(JSON.stringify(bundle), 'utf8'), cipher.final()]);
  return Buffer.concat([magic, salt, nonce, cipher.getAuthTag(), text]);
}

/** Throws a `StackError` for another passphrase and for a bundle that was changed or cut. */
export function openBundle(bytes: Buffer, passphrase: string): Bundle {
  try {
    if (!bytes.subarray(0, at.salt).equals(magic)) throw new Error('no bundle');
    const key = keyOf(passphrase, bytes.subarray(at.salt, at.nonce));
    const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(at.nonce, at.tag))
      .setAAD(magic)
      .setAuthTag(bytes.subarray(at.tag, at.text));
    const text = Buffer.concat([decipher.update(bytes.subarray(at.text)), decipher.final()]);
    return Value.Parse(Bundle, JSON.parse(text.toString('utf8')));
  } catch {
    // The reason of the library may quote what was read.
    throw new StackError(
      'BAD_DESCRIPTION',
      'the backup does not open: another passphrase, or it was changed',
    );
  }
}

function keyOf(passphrase: string, salt: Buffer): Buffer {
  return scryptSync(passphrase.normalize('NFKC'), salt, keyBytes, cost);
}
