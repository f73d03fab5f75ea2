export { LedgerFold } from './fold.ts';
export * from './ledger.ts';
export { openLedger } from './redis-ledger.ts';
