export {
  type OpsListener,
  type OpsListenerOptions,
  openOpsListener,
  type Readiness,
} from './ops-listener.io.ts';
