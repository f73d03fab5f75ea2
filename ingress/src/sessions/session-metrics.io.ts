import type { SessionTable } from '@pm/domain/sessions/session-table';
import type { Metrics } from '@pm/kit/metrics';
import type { SessionsOptions } from './sessions.io.ts';

/** Seconds from the last heartbeat to empty books; 15 are promised. */
const endSeconds = [11, 12, 13, 13.5, 14, 15, 17, 20, 25, 30, 60, 300];

/** Counts of the sessions, as metrics and for `/status`. */
export function openSessionCounts(metrics: Metrics) {
  const beats = metrics.counter({
    name: 'pm_ingress_heartbeats_total',
    help: 'Heartbeats by outcome.',
    labels: ['outcome'],
  });
  const misses = metrics.counter({
    name: 'pm_ingress_sessions_missed_total',
    help: 'Sessions whose silence this process wrote down.',
  });
  const revived = metrics.counter({
    name: 'pm_ingress_sessions_revived_total',
    help: 'Misses revoked because no heartbeat could be taken before them.',
  });
  const ended = metrics.histogram({
    name: 'pm_ingress_session_end_seconds',
    help: 'Time from the last heartbeat to the last cancel.',
    buckets: endSeconds,
  });
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

/** The same with the sessions of now. */
function overTable(
  table: SessionTable,
  { metrics, totals }: { readonly metrics: Metrics; readonly totals: object },
): { facts(): object } {
  const live = () => table.liveCount;
  const ending = () => table.missed.size;
  const name = (of: string) => `pm_ingress_sessions_${of}`;
  metrics.gauge({ name: name('live'), help: 'Sessions with heartbeats.', read: live });
  metrics.gauge({ name: name('ending'), help: 'Missed, not canceled yet.', read: ending });
  return { facts: () => ({ live: live(), ending: ending(), ...totals }) };
}
