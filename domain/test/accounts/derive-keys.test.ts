import type { WalletAddress } from '@pm/schemas/ids';
import { deriveKey, trioOf } from '../../src/accounts/derive-keys.ts';
import { sameText } from '../../src/accounts/same-text.ts';

const wallet = `0x${'ab'.repeat(20)}` as WalletAddress;

describe('a derived key', () => {
  it('is always the same, and another one for every secret, wallet and nonce', () => {
    const seen = new Set<string>();
    for (const secret of [Buffer.alloc(32, 5), Buffer.alloc(32, 6)]) {
      for (const nonce of ['0', '5', (2n ** 256n - 1n).toString()]) {
        const key = deriveKey(secret, { wallet, nonce });
        expect(deriveKey(secret, { wallet, nonce })).toEqual(key);
        seen.add(key.apiKey).add(trioOf(key).secret).add(key.passphrase);
      }
    }
    expect(seen.size).toBe(18);
  });

  it('does not change from version to version: clients keep theirs', () => {
    expect(trioOf(deriveKey(Buffer.alloc(32, 7), { wallet, nonce: '0' }))).toEqual({
      apiKey: 'a900590e-c080-4417-b946-991f4ebeed9f',
      secret: 'd6jFoH7SrWgJevw_AaU8MYhFXLKVSPkFyuRRiJsPyo4=',
      passphrase: 'ba67bf3304096852cf98f780ceff2de0c972587acee6ecca06c1fcec777f2f93',
    });
  });

  it('is given out as a random UUID, padded base64url and hex', () => {
    const trio = trioOf(deriveKey(Buffer.alloc(32, 7), { wallet, nonce: '0' }));
    expect(trio.apiKey).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-/);
    expect(trio.secret).toMatch(/^[A-Za-z0-9_-]{43}=$/);
    expect(trio.passphrase).toMatch(/^[0-9a-f]{64}$/);
  });
});

it('texts are the same only when they are, whatever their lengths', () => {
  expect([sameText('', ''), sameText('a', 'a')]).toEqual([true, true]);
  expect([sameText('', 'a'), sameText('a', 'b'), sameText('a', 'aa')]).toEqual([
    false,
    false,
    false,
  ]);
});

it('no two versions of a nonce share a key, secret or passphrase', () => {
  const secret = Buffer.alloc(32, 7);
  const versions = [0, 1, 2, 10].map((version) =>
    trioOf(deriveKey(secret, { wallet, nonce: '1', version })),
  );
  expect(new Set(versions.flatMap((trio) => Object.values(trio))).size).toBe(12);
  expect(versions[0]).toEqual(trioOf(deriveKey(secret, { wallet, nonce: '1' })));
});
