export { type Lifecycle, runService } from './service.io.ts';
