export { type EngineProbe, waitingPrefix } from './engine-wait.io.ts';
export { exitCodes } from './exit-codes.ts';
export type { Operations } from './operations.io.ts';
export { type Lifecycle, runService } from './service.io.ts';
