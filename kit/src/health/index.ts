export {
  type OpsListener,
  openOpsListener,
  type Readiness,
} from './ops-listener.io.ts';
