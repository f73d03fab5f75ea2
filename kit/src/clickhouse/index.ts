export { clickhouseFault } from './faults.ts';
export {
  type ClickHouse,
  type ClickHouseOptions,
  insertRowsMax,
  openClickHouse,
  type QueryParameter,
  selectRowsMax,
} from './open.ts';
export type { Cell } from './statements.ts';
