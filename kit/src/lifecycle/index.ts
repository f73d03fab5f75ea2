export type { ProcessHost } from './host.io.ts';
export { exitCodes, type Lifecycle, runService } from './service.io.ts';
