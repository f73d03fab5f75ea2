export {
  type ClickHouse,
  openClickHouse,
  selectRowsMax,
} from './open.io.ts';
export type { QueryParameter } from './parameters.ts';
export type { Cell } from './statements.ts';
