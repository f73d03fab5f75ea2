export { BrokenAssumption } from './assumption.ts';
export { BatchBook, commandAt, commandWords, fillWords } from './batch-book.ts';
export { packPrice } from './book.ts';
export { Applied, Engine, type RejectReason } from './engine.ts';
export { roleAllows } from './roles.ts';
export { keyIdOf, type SignOffKey } from './sign-off-keys.ts';
export { defaultLimits, type Limits } from './state.ts';
export { MalformedState } from './state-bytes.ts';
