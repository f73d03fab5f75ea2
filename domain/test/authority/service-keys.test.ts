import { ServiceKeys } from '../../src/authority/service-keys.ts';
import { openSignOffKey } from '../../src/signoff/keys.ts';

const keyOf = (byte: number) => openSignOffKey(Buffer.alloc(32, byte)).publicKey;

test('the listed keys are those of services that are not retired', () => {
  const keys = new ServiceKeys(keyOf(1));
  for (const byte of [2, 3])
    keys.apply({ kind: 'ServiceKeyListed', publicKey: keyOf(byte), role: 'INGRESS' });
  keys.apply({ kind: 'ServiceKeyRetired', publicKey: keyOf(2), ends: [] });
  expect(keys.listed).toEqual([{ role: 'INGRESS', publicKey: keyOf(3) }]);
});
