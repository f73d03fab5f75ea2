export { type EngineProbe, waitingPrefix } from './engine-wait.io.ts';
export { exitCodes } from './exit-codes.ts';
export { type Lifecycle, runService } from './service.io.ts';
