import { createHash, createPrivateKey, generateKeyPairSync } from 'node:crypto';
import { Fault } from '@pm/kit/fault';
import nacl from 'tweetnacl';
import { runLength } from '../../../kit/test/long-runs.ts';
import { keyIdOf, openSignOffKey, verifierFor } from '../../src/signoff/keys.ts';

/** Order of the group of Ed25519 (RFC 8032, 5.1). */
const groupOrder = 2n ** 252n + 27742317777372353535851937790883648493n;

/** A signature with S + L in place of S, which a malleable verifier accepts as another valid one. */
function malleated(signature: Buffer): Buffer {
  const s = BigInt(`0x${Buffer.from(signature.subarray(32)).reverse().toString('hex')}`);
  const shifted = (s + groupOrder).toString(16).padStart(64, '0');
  return Buffer.concat([signature.subarray(0, 32), Buffer.from(shifted, 'hex').reverse()]);
}

describe('a sign-off key', () => {
  const rounds = runLength({ test: 3, deep: 32 });

  test.each([
    [
      '9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60',
      'd75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a',
      '',
      'e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bacc61e39701cf9b46bd25bf5f0595bbe24655141438e7a100b',
    ],
    [
      '4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb',
      '3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c',
      '72',
      '92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00',
    ],
  ])('signs as RFC 8032 section 7.1 says (seed %s)', (seed, publicKey, message, signature) => {
    const key = openSignOffKey(Buffer.from(seed, 'hex'));
    const bytes = Buffer.from(message, 'hex');
    expect(key.publicKey.toString('hex')).toBe(publicKey);
    expect(key.sign(bytes).toString('hex')).toBe(signature);
    expect(verifierFor(key.publicKey)(bytes, key.sign(bytes))).toBe(true);
  });

  test('agrees with tweetnacl on keys and signatures, both ways', () => {
    for (let round = 0; round < rounds; round += 1) {
      const seed = createHash('sha256').update(`seed ${round}`).digest();
      const message = createHash('sha512')
        .update(`message ${round}`)
        .digest()
        .subarray(0, 2 * round);
      const ours = openSignOffKey(seed);
      const theirs = nacl.sign.keyPair.fromSeed(seed);
      expect(ours.publicKey).toEqual(Buffer.from(theirs.publicKey));
      const signature = Buffer.from(nacl.sign.detached(message, theirs.secretKey));
      expect(ours.sign(message)).toEqual(signature);
      expect(verifierFor(theirs.publicKey)(message, signature)).toBe(true);
      expect(nacl.sign.detached.verify(message, ours.sign(message), ours.publicKey)).toBe(true);
    }
  });

  test('opens from PKCS#8 as from its seed', () => {
    const seed = Buffer.alloc(32, 7);
    const head = Buffer.from('302e020100300506032b657004220420', 'hex');
    const pkcs8 = Buffer.concat([head, seed]);
    expect(createPrivateKey({ key: pkcs8, format: 'der', type: 'pkcs8' }).type).toBe('private');
    expect(openSignOffKey(pkcs8).publicKey).toEqual(openSignOffKey(seed).publicKey);
  });

  test('is named by the first 8 bytes of the SHA-256 of its public key', () => {
    const key = openSignOffKey(Buffer.alloc(32, 1));
    const hash = createHash('sha256').update(key.publicKey).digest();
    expect(key.keyId).toEqual(hash.subarray(0, 8));
    expect(keyIdOf(key.publicKey)).toEqual(key.keyId);
  });

  test('is refused when it is no Ed25519 key, without telling a byte of it', () => {
    const p256 = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey;
    const wrong = [
      Buffer.alloc(31),
      Buffer.alloc(64),
      p256.export({ type: 'pkcs8', format: 'der' }),
    ];
    for (const bytes of wrong) {
      expect(() => openSignOffKey(bytes)).toThrow(Fault);
      expect(() => openSignOffKey(bytes)).toThrow(/^invalid_key \(wanted=/);
    }
    expect(() => verifierFor(Buffer.alloc(33))).toThrow(Fault);
  });
});

describe('a verifier', () => {
  const key = openSignOffKey(Buffer.alloc(32, 3));
  const verify = verifierFor(key.publicKey);
  const message = Buffer.from('one hundred shares at 0.57');
  const signature = key.sign(message);

  test('refuses a signature with S + L, which tweetnacl takes', () => {
    const forged = malleated(signature);
    expect(nacl.sign.detached.verify(message, forged, key.publicKey)).toBe(true);
    expect(verify(message, forged)).toBe(false);
    expect(verify(message, signature)).toBe(true);
  });

  test('refuses other bytes, other keys and other lengths, and never throws', () => {
    const other = verifierFor(openSignOffKey(Buffer.alloc(32, 4)).publicKey);
    expect(other(message, signature)).toBe(false);
    expect(verify(message.subarray(1), signature)).toBe(false);
    for (const length of [0, 1, 63, 65, 128]) {
      expect(verify(message, Buffer.alloc(length))).toBe(false);
    }
    expect(verify(message, Buffer.alloc(64))).toBe(false);
    expect(verify(message, Buffer.alloc(64, 0xff))).toBe(false);
  });
});
