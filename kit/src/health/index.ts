export {
  type Health,
  type OpsListener,
  openOpsListener,
  type Readiness,
  type Serving,
} from './ops-listener.io.ts';
