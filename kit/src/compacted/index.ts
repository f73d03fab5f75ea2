export { type CompactedOptions, type EntryPlace, followTable } from './follow-table.io.ts';
