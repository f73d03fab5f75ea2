export {
  clockSkewMs,
  type KeyHolder,
  type KeyVerifier,
  type KeyVerifierOptions,
  openKeyVerifier,
} from './authenticate.ts';
export { claimsApiKey, claimsKey, type KeyClaim, readKeyClaim } from './claim.ts';
export { type DerivedKey, deriveKey, deriveReadKey, trioOf } from './derive.ts';
export { isFresh, type RawHeaders } from './headers.ts';
export { keyCredentials } from './key-credentials.ts';
export { KeyDirectory, type ListedKey } from './key-directory.ts';
export { oncePerRequest } from './once-per-request.ts';
export { hashOfKey, type ListedReadKey, ReadKeyDirectory } from './read-key-directory.ts';
export {
  openReaderVerifier,
  type Reader,
  type ReaderVerifier,
  readKeyWallet,
  showsReadKey,
} from './reader.ts';
export { sameText } from './same-text.ts';
export { coverageOf, type SignedRequest, signedPaths } from './signed-request.ts';
export { readWalletClaim, type WalletClaim } from './wallet-claim.ts';
