import type { Table } from './create-table.ts';

/**
 * Exists beside the served tables only while `npm run rebuild` needs them unchanged: as long as the newest moment in
 * it has not passed by the server's clock, projectors begin no batch. It expires by itself when its creator has died.
 */
export const rebuildHold = {
  name: 'rebuild_hold',
  comment: 'Projectors begin no batch until the newest moment in it. Not folded from the log.',
  columns: [
    { name: 'until', type: "DateTime64(3, 'UTC')", comment: 'Begin no batch before, UTC.' },
  ],
  engine: 'MergeTree',
  orderBy: ['until'],
} as const satisfies Table;
