export { clickhouseFault } from './faults.ts';
export {
  type ClickHouse,
  type ClickHouseOptions,
  insertRowsMax,
  openClickHouse,
  selectRowsMax,
} from './open.io.ts';
export type { QueryParameter } from './parameters.ts';
export type { Cell } from './statements.ts';
