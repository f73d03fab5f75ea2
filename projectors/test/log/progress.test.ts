import type { RecordBatch } from '@pm/kit/kafka';
import { openMetrics } from '@pm/kit/metrics';
import { ViewProgress } from '../../src/log/progress.io.ts';
import { projectorMetrics, readViews } from '../../src/metrics.ts';

const view = 'tables';
const partition = 0;

/** Records up to an offset, exclusive, of a partition that ends there. */
function batchTo(end: number): RecordBatch {
  const records = [{ offset: end - 1 }] as unknown as RecordBatch['records'];
  return { topic: 't', partition, records, highWatermark: end } as RecordBatch;
}

/** A partition that is stored up to its end. */
const at = (position: number) => ({ position, end: position });

function openProgress() {
  const metrics = openMetrics('projectors');
  const progress = new ViewProgress(projectorMetrics(metrics));
  return { metrics, progress, lagAt: (nowMs: number) => progress.lags(nowMs)[0]?.lagMs };
}

describe('the lag of a view', () => {
  test('is the age of the newest stored record, not of the newest that was read', () => {
    const { progress, lagAt } = openProgress();
    progress.assigning(view, partition);
    progress.running(view, partition, at(0));
    progress.projected(view, batchTo(10), { position: 0, lastTimeMs: 1_000 });
    progress.projected(view, batchTo(20), { position: 0, lastTimeMs: 9_000 });
    progress.stored(view, partition, 10);
    expect(lagAt(10_000)).toBe(9_000);
    progress.stored(view, partition, 20);
    expect(lagAt(10_000)).toBe(0);
  });

  test('grows while nothing is stored, from the first record that waits', () => {
    const { progress, lagAt } = openProgress();
    progress.running(view, partition, at(0));
    progress.projected(view, batchTo(10), { position: 0, lastTimeMs: 1_000 });
    expect(lagAt(31_000)).toBe(30_000);
    progress.projected(view, batchTo(20), { position: 0, lastTimeMs: 31_000 });
    expect(lagAt(61_000)).toBe(60_000);
  });

  test('grows while the projection of records does not end', () => {
    const { progress, lagAt } = openProgress();
    progress.running(view, partition, at(0));
    progress.projected(view, batchTo(10), { position: 10, lastTimeMs: 1_000 });
    progress.received(view, batchTo(20));
    expect(lagAt(61_000)).toBe(60_000);
  });

  test('survives a restore, and records that are read again are marked once', () => {
    const { progress, lagAt } = openProgress();
    progress.running(view, partition, at(0));
    progress.projected(view, batchTo(10), { position: 10, lastTimeMs: 1_000 });
    progress.projected(view, batchTo(20), { position: 10, lastTimeMs: 5_000 });
    progress.failed(view, partition, { code: 'clickhouse_away', halts: false });
    progress.assigning(view, partition);
    progress.running(view, partition, at(10));
    expect(lagAt(61_000)).toBe(60_000);
    progress.projected(view, batchTo(20), { position: 20, lastTimeMs: 5_000 });
    expect(lagAt(61_000)).toBe(0);
  });

  test('is bounded in memory while a store is away', () => {
    const { progress } = openProgress();
    progress.running(view, partition, at(0));
    for (let end = 1; end <= 10_000; end += 1)
      progress.projected(view, batchTo(end), { position: 0, lastTimeMs: end });
    progress.stored(view, partition, 10_000);
    expect(progress.lags(20_000)).toEqual([{ view, partition, lagMs: 0 }]);
    expect(JSON.stringify(progress.status())).not.toContain('marks');
  });

  test('is served with the phases of its partitions', async () => {
    const { progress, metrics } = openProgress();
    readViews(metrics, { progress, nowMs: () => 4_000 });
    progress.assigning(view, 1);
    progress.running(view, partition, at(0));
    progress.projected(view, batchTo(10), { position: 0, lastTimeMs: 1_500 });
    const text = await metrics.text();
    expect(text).toMatch(/pm_projector_lag_seconds\{view="tables",partition="0",[^}]*\} 2\.5/);
    expect(text).toMatch(/pm_projector_partitions\{view="tables",phase="restoring",[^}]*\} 1/);
    expect(text).toMatch(/pm_projector_partitions\{view="tables",phase="halted",[^}]*\} 0/);
  });
});

test('a process serves while one of its views goes on in a partition, or others have all', () => {
  const { progress } = openProgress();
  progress.waitFor('starting:tables');
  expect(progress.serving()).toEqual({ serving: false, reasons: ['starting:tables'] });
  progress.done('starting:tables');
  expect(progress.serving().serving).toBe(true);
  progress.assigning('tables', 0);
  expect(progress.serving()).toEqual({ serving: false, reasons: ['restoring:tables:0'] });
  progress.running('books', 0, at(0));
  expect(progress.serving()).toEqual({ serving: true, reasons: ['restoring:tables:0'] });
});
