export {
  type KeyHolder,
  type KeyVerifier,
  type KeyVerifierOptions,
  openKeyVerifier,
} from './authenticate.ts';
export { claimsKey, type KeyClaim, readKeyClaim } from './claim.ts';
export { type DerivedKey, deriveKey, trioOf } from './derive.ts';
export { isFresh, type RawHeaders } from './headers.ts';
export { keyCredentials } from './key-credentials.ts';
export { KeyDirectory, type ListedKey } from './key-directory.ts';
export { oncePerRequest } from './once-per-request.ts';
export { sameText } from './same-text.ts';
export { isSignedBy, type SignedRequest, signedPaths } from './signed-request.ts';
export { readWalletClaim, type WalletClaim } from './wallet-claim.ts';
