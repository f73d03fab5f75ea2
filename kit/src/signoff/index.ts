export { keyIdOf, openSignOffKey, type SignOffKey, type Verifier, verifierFor } from './keys.ts';
export { checkChain, firstChain, sealEnvelope, sealExecution, verifySealed } from './records.ts';
