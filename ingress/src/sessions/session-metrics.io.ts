import type { SessionTable } from '@pm/domain/sessions/session-table';
import type { Metrics } from '@pm/kit/metrics';
import { sessionMetrics, sessionReadings } from '../metrics.ts';
import type { SessionsOptions } from './sessions.io.ts';

/** Counts of the sessions, as metrics and for `/status`. */
export function openSessionCounts(metrics: Metrics) {
  const { beats, misses, revived, ended } = metrics.open(sessionMetrics);
  const totals = {
    accepted: 0,
    wrong: 0,
    refused: 0,
    missed: 0,
    revived: 0,
    ended: 0,
    slowestEndMs: 0,
  };
  const counts: SessionsOptions['counts'] = {
    onBeat(outcome) {
      totals[outcome] += 1;
      beats.add(1, { outcome });
    },
    onMissed() {
      totals.missed += 1;
      misses.add(1);
    },
    onRevived() {
      totals.revived += 1;
      revived.add(1);
    },
    onEnded(afterMs) {
      totals.ended += 1;
      totals.slowestEndMs = Math.max(totals.slowestEndMs, Math.round(afterMs));
      ended.observe(afterMs / 1000);
    },
  };
  return { ...counts, over: (table: SessionTable) => overTable(table, { metrics, totals }) };
}

/** Counts of the sessions with the current numbers of sessions, as metrics and for `/status`. */
function overTable(
  table: SessionTable,
  { metrics, totals }: { readonly metrics: Metrics; readonly totals: object },
): { facts(): object } {
  const live = () => table.liveCount;
  const ending = () => table.missed.size;
  metrics.gauge({ ...sessionReadings.live, read: live });
  metrics.gauge({ ...sessionReadings.ending, read: ending });
  return { facts: () => ({ live: live(), ending: ending(), ...totals }) };
}
