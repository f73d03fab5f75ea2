import { EncodingThread } from '@pm/matcher/state-encoder';
import { readArguments } from './report/arguments.ts';
import { collectGarbage } from './report/garbage.ts';
import { loadText } from './report/machine.ts';
import { mebibytesText, msText, quantile, ratioText } from './report/numbers.ts';
import { publish } from './report/report.ts';
import { measureIds } from './stall/ids.ts';
import { measurePauses, type Pauses } from './stall/pauses.ts';
import { measureRestart, type Restart } from './stall/restarts.ts';
import { RestingState } from './stall/resting-state.ts';

/** `npm run bench:stall`: how long a partition stands still for checkpoints and snapshots, and how fast it restarts. */
const given = readArguments({
  rounds: { default: 7, min: 1, max: 50 },
  /** Percent of the orders: less than all is for trying out. */
  share: { default: 100, min: 1, max: 100 },
  ids: { default: 1_000_000, min: 10_000, max: 8_000_000 },
});
const sizes = [100_000, 400_000, 1_000_000].map((size) => (size * given.number('share')) / 100);

/** Goals at a million resting orders, milliseconds. */
const goals = { pauseMs: 10, restartMs: 5_000 };

interface Measured {
  readonly orders: number;
  readonly pauses: Pauses;
  readonly restart: Restart;
}

const loadBefore = loadText();
const measured: Measured[] = [];
for (const orders of sizes) measured.push(await measure(orders));
const ids = measureIds(given.number('ids'));

publish(
  {
    name: 'stall',
    title: 'Pauses of a partition with many resting orders, and its restart',
    conditions: [
      `One engine, orders of 4,000 wallets on 200 markets, one in five canceled while the state was built; load average ${loadBefore} before and ${loadText()} after the run.`,
      `A turn is one record of 8 orders and 8 cancels and one round of the event loop; ${given.number('rounds')} rounds, min / median / max, wall time. "No state" is the same number of milliseconds without a state being encoded: what the machine and the collector of garbage do alone.`,
      'Not included: verification, sealing and sending of records.',
    ],
    tables: [
      {
        title: `Longest turn, ms (goal with ${sizes.at(-1)?.toLocaleString('en')} orders: ${goals.pauseMs})`,
        head: ['resting orders', 'no state', 'checkpoint', 'snapshot', 'of it the freeze'],
        rows: measured.map(({ orders, pauses }) => [
          orders.toLocaleString('en'),
          ...[pauses.quiet, pauses.checkpoint, pauses.snapshot, pauses.freeze].map(spread),
        ]),
      },
      {
        title: 'The same on the thread of the records, ms',
        head: [
          'resting orders',
          'encode and hash',
          'SHA-256 alone',
          'copy alone',
          'freeze to SHA-256',
          'in the other thread',
        ],
        rows: measured.map(({ orders, pauses }) => [
          orders.toLocaleString('en'),
          ...[pauses.here, pauses.bareHash, pauses.bareCopy].map(medianText),
          ratioText(quantile(pauses.freeze, 0.5) / quantile(pauses.bareHash, 0.5)),
          medianText(pauses.encoding),
        ]),
      },
      {
        title: `Restart from a snapshot (goal ${goals.restartMs / 1_000} s)`,
        head: ['resting orders', 'snapshot', 'read and verify, ms', 'decode and check, ms'],
        rows: measured.map(({ orders, restart }) => [
          orders.toLocaleString('en'),
          mebibytesText(restart.bytes),
          msText(restart.readMs),
          msText(restart.decodeMs),
        ]),
      },
      ids.table,
    ],
    notes: ids.notes,
    figures: { loadBefore, sizes: measured, ids: ids.figures },
  },
  given,
);

async function measure(orders: number): Promise<Measured> {
  collectGarbage();
  const state = new RestingState(orders);
  const thread = new EncodingThread({
    threadFile: new URL(
      './partition/state-encoder-thread.io.js',
      import.meta.resolve('@pm/matcher/config'),
    ),
    onFault: (fault) => {
      throw fault;
    },
  });
  try {
    const pauses = await measurePauses(state, thread, given.number('rounds'));
    return { orders, pauses, restart: measureRestart(state.engine) };
  } finally {
    await thread.close();
  }
}

function medianText(samples: readonly number[]): string {
  return msText(quantile(samples, 0.5));
}

function spread(samples: readonly number[]): string {
  return [0, 0.5, 1].map((q) => msText(quantile(samples, q))).join(' / ');
}
