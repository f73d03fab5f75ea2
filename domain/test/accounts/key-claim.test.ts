import { readKeyClaim } from '../../src/accounts/key-claim.ts';

const address = `0x${'Ab'.repeat(20)}`;
const claim = {
  service_address: address,
  service_api_key: '9180014B-33c8-4240-a14b-bdca11c0a465',
  service_passphrase: 'f'.repeat(64),
  service_timestamp: '1782753357',
  service_signature: 'ZwAdJKvoYRlEKDkNMwd5BuwNNtg93kNaR_oU2HrfVvc=',
};

test('headers are read without case, normalised, and refused when repeated', () => {
  expect(readKeyClaim(claim)).toMatchObject({
    address: address.toLowerCase(),
    apiKey: '9180014b-33c8-4240-a14b-bdca11c0a465',
    timestamp: '1782753357',
    timestampMs: 1_782_753_357_000,
  });
  for (const name of Object.keys(claim)) {
    expect(readKeyClaim({ ...claim, [name]: undefined })).toBeNull();
    expect(readKeyClaim({ ...claim, [name]: [claim.service_timestamp] })).toBeNull();
  }
  expect(readKeyClaim({ ...claim, service_timestamp: '1782753357257' })?.timestampMs).toBe(
    1_782_753_357_257,
  );
});
