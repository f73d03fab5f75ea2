export { readFirstEnvelope } from './first-envelope.ts';
export { keyIdOf, openSignOffKey, type SignOffKey, type Verifier, verifierFor } from './keys.ts';
export {
  checkChain,
  firstChain,
  sealEnvelope,
  sealExecution,
  sealWritten,
  verifySealed,
} from './records.ts';
