import { isFresh } from '../../src/accounts/auth-headers.ts';
import { readWalletClaim } from '../../src/accounts/wallet-claim.ts';

const address = `0x${'aB'.repeat(20)}`;
const sound = {
  service_address: address,
  service_signature: `0x${'1f'.repeat(65)}`,
  service_timestamp: '1782753357',
  service_nonce: '23',
};

describe('a request for a key', () => {
  it('is read, whatever the case of its address', () => {
    expect(readWalletClaim(sound)).toEqual({
      address: address.toLowerCase(),
      signature: Buffer.alloc(65, 0x1f),
      timestamp: '1782753357',
      timestampMs: 1_782_753_357_000,
      nonce: '23',
    });
  });

  it('has the nonce 0 when it names none, and the largest is 2^256 - 1', () => {
    const { service_nonce: _left, ...without } = sound;
    expect(readWalletClaim(without)).toMatchObject({ nonce: '0' });
    const largest = (2n ** 256n - 1n).toString();
    expect(readWalletClaim({ ...sound, service_nonce: largest })).toMatchObject({ nonce: largest });
  });

  it.each<[string, Record<string, string | string[] | undefined>]>([
    ['no address', { service_address: undefined }],
    ['no signature', { service_signature: undefined }],
    ['no time', { service_timestamp: undefined }],
    ['a short signature', { service_signature: `0x${'1f'.repeat(64)}` }],
    ['a signature without 0x', { service_signature: '1f'.repeat(65) }],
    ['a repeated address', { service_address: [address, address] }],
    ['a hexadecimal nonce', { service_nonce: '0x1' }],
    ['a nonce with a leading zero', { service_nonce: '01' }],
    ['a nonce of 2^256', { service_nonce: (2n ** 256n).toString() }],
    ['a time in scientific notation', { service_timestamp: '1e9' }],
    ['a negative time', { service_timestamp: '-1' }],
  ])('is refused with %s', (_title, changes) => {
    expect(readWalletClaim({ ...sound, ...changes })).toBeNull();
  });
});

it('a time is fresh up to both edges of the window of its unit', () => {
  const windows = { secondsMs: 10_000, millisecondsMs: 3 };
  const at = (timestampMs: number) => ({ timestamp: String(timestampMs / 1_000), timestampMs });
  const precise = (timestampMs: number) => ({ timestamp: String(timestampMs), timestampMs });
  const fresh = [7, 8, 13, 14].map((ms) => isFresh(precise(ms), 10.5, windows));
  expect(fresh).toEqual([false, true, true, false]);
  expect([isFresh(at(100_000), 110_000, windows), isFresh(at(120_000), 110_000, windows)]).toEqual([
    true,
    true,
  ]);
  expect([isFresh(at(99_000), 110_000, windows), isFresh(at(121_000), 110_000, windows)]).toEqual([
    false,
    false,
  ]);
});
