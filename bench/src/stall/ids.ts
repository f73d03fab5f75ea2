import { collectGarbage } from '../report/garbage.ts';
import { mebibytesText } from '../report/numbers.ts';
import type { Table } from '../report/report.ts';
import { RestingState } from './resting-state.ts';

/** Memory of ids whose orders have ended: growth of the array buffers by so many. */
export function measureIds(ids: number) {
  collectGarbage();
  const before = process.memoryUsage().arrayBuffers;
  const state = new RestingState(0);
  while (state.orders < ids) state.next(128);
  state.cancelAll();
  collectGarbage();
  const bytes = process.memoryUsage().arrayBuffers - before;
  const table: Table = {
    title: 'Memory of remembered ids',
    head: ['ids', 'bytes each', 'all', 'in a snapshot, bytes each'],
    rows: [
      [
        state.orders.toLocaleString('en'),
        (bytes / state.orders).toFixed(0),
        mebibytesText(bytes),
        (state.engine.encodeState().length / state.orders).toFixed(0),
      ],
    ],
  };
  const notes = [
    'Tables grow by doubling, so the bytes of an id are within a factor of two of what they would be at another number of them.',
  ];
  return { table, notes, figures: { ids: state.orders, bytes } };
}
