import { openSignOffKey, publicKeyObject } from '../../src/signoff/keys.ts';
import { verifyInPool } from '../../src/signoff/verify-in-pool.io.ts';

const key = openSignOffKey(Buffer.alloc(32, 7));
const object = publicKeyObject(key.publicKey);

test('judges a signature like the check in the same thread', async () => {
  const bytes = Buffer.from('signed');
  const signature = key.sign(bytes);
  expect(await verifyInPool(object, bytes, signature)).toBe(true);
  expect(await verifyInPool(object, Buffer.from('another'), signature)).toBe(false);
  expect(await verifyInPool(object, bytes, Buffer.alloc(64))).toBe(false);
});

test('judges the bytes of the call, whatever their memory is used for after it', async () => {
  const bytes = Buffer.alloc(200_000, 5);
  const signature = key.sign(bytes);
  const checks = Array.from({ length: 20 }, () => {
    const [memory, signed] = [Buffer.from(bytes), Buffer.from(signature)];
    const check = verifyInPool(object, memory, signed);
    memory.fill(0);
    signed.fill(0);
    return check;
  });
  expect(await Promise.all(checks)).toEqual(checks.map(() => true));
});
