export { BrokenAssumption } from './assumption.ts';
export { BatchBook, commandAt, commandWords, fillWords } from './book/batch-book.ts';
export { packPrice } from './book/book.ts';
export { Applied, Engine, type RejectReason } from './engine.ts';
export { defaultLimits, type Limits } from './record.ts';
export { maySign, signerOf } from './rules/roles.ts';
export { keyIdOf, type SignOffKey } from './rules/sign-off-keys.ts';
export { UsedSequences } from './rules/used-sequences.ts';
export { MalformedState } from './state/state-bytes.ts';
