import type { Table } from '@pm/schemas/tables/create-table';
import { tables } from '@pm/schemas/tables/tables';
import { ExportError } from './export-error.ts';

/** A table whose rows belong to one day: those with `time` in it, and `where`. */
interface Dated {
  readonly time: 'time' | 'bucket';
  readonly where?: string;
}

/**
 * Treatment of a table when a day is written (decisions.md, "A day is written as its facts").
 * `facts`: the rows of the day. `state`: all rows when they are read, independent of the day. `copy`: facts that `of`
 * contains as well, written only when named. `none`: never written.
 */
type Treatment =
  | ({ readonly kind: 'facts' } & Dated)
  | { readonly kind: 'state' }
  | ({ readonly kind: 'copy'; readonly of: Table } & Dated)
  | { readonly kind: 'none'; readonly why: string };

const treatments = {
  fills: { kind: 'facts', time: 'time' },
  walletFills: { kind: 'facts', time: 'time' },
  walletMoves: { kind: 'facts', time: 'time' },
  tape: { kind: 'copy', of: tables.walletFills, time: 'time' },
  builderFills: { kind: 'copy', of: tables.fills, time: 'time' },
  resolutions: { kind: 'facts', time: 'time' },
  orderEvents: { kind: 'facts', time: 'time' },
  openOrders: { kind: 'state' },
  walletCancels: { kind: 'copy', of: tables.orderEvents, time: 'time' },
  bookEvents: { kind: 'facts', time: 'time' },
  positions: { kind: 'state' },
  holders: { kind: 'none', why: 'positions in another order' },
  midpoints: { kind: 'facts', time: 'bucket' },
  candles: { kind: 'facts', time: 'bucket' },
  completeness: { kind: 'none', why: 'in the manifest' },
  // The rows of a month change until its end, and follow from those of its hours; so do the rows of an open hour.
  bookClosings: {
    kind: 'copy',
    of: tables.bookEvents,
    time: 'bucket',
    where: "span = 'hour' AND bucket < toStartOfHour(fromUnixTimestamp64Milli({to:Int64}, 'UTC'))",
  },
  bookOrders: { kind: 'copy', of: tables.orderEvents, time: 'time' },
  marketRules: { kind: 'facts', time: 'time' },
} as const satisfies Record<keyof typeof tables, Treatment>;

/** A table to write, with the condition of its rows; `null` selects all rows. */
export interface PlannedTable {
  readonly table: Table;
  readonly kind: 'facts' | 'state' | 'copy';
  readonly condition: string | null;
}

/** A table that is not written, and why. */
export interface LeftOut {
  readonly table: string;
  readonly why: string;
}

export interface ExportPlan {
  readonly planned: readonly PlannedTable[];
  readonly leftOut: readonly LeftOut[];
}

const entries: readonly (readonly [Table, Treatment])[] = Object.entries(treatments).map(
  ([name, treatment]) => [tables[name as keyof typeof tables], treatment],
);

/**
 * The tables to write: those `named`, or all facts and states. Throws `BAD_ARGUMENT` for a name that cannot be written.
 */
export function planOf(named: readonly string[] | null): ExportPlan {
  for (const name of named ?? []) {
    const found = entries.find(([table]) => table.name === name);
    if (found === undefined) {
      const known = entries.filter(([, { kind }]) => kind !== 'none').map(([table]) => table.name);
      throw new ExportError('BAD_ARGUMENT', `${name} is no table: there are ${known.join(', ')}`);
    }
    const treatment: Treatment = found[1];
    if (treatment.kind === 'none')
      throw new ExportError('BAD_ARGUMENT', `${name} is not written: ${treatment.why}`);
  }
  const planned: PlannedTable[] = [];
  const leftOut: LeftOut[] = [];
  for (const [table, treatment] of entries) {
    const why = whyNot(table, treatment, named);
    if (treatment.kind === 'none' || why !== null)
      leftOut.push({ table: table.name, why: why ?? 'not requested' });
    else planned.push({ table, kind: treatment.kind, condition: conditionOf(treatment) });
  }
  return { planned, leftOut };
}

function whyNot(
  table: Table,
  treatment: Treatment,
  named: readonly string[] | null,
): string | null {
  if (treatment.kind === 'none') return treatment.why;
  if (named !== null) return named.includes(table.name) ? null : 'not requested';
  return treatment.kind === 'copy' ? `${treatment.of.name} says it all` : null;
}

function conditionOf(treatment: Exclude<Treatment, { kind: 'none' }>): string | null {
  if (treatment.kind === 'state') return null;
  const { time, where } = treatment;
  const day = `${time} >= fromUnixTimestamp64Milli({from:Int64}, 'UTC') AND ${time} < fromUnixTimestamp64Milli({to:Int64}, 'UTC')`;
  return where === undefined ? day : `${day} AND ${where}`;
}
