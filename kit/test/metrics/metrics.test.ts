import { execFileSync } from 'node:child_process';
import { Fault } from '../../src/fault/index.ts';
import { measureHeld, openMetrics } from '../../src/metrics/index.ts';

describe('metrics', () => {
  test('counts, sets and observes under the labels of the service', async () => {
    const metrics = openMetrics('matcher');
    const orders = metrics.counter({
      name: 'pm_orders_total',
      help: 'Orders.',
      labels: ['outcome'],
    });
    const lag = metrics.gauge({ name: 'pm_lag_records', help: 'Lag.' });
    const took = metrics.histogram({ name: 'pm_took_seconds', help: 'Took.', buckets: [0.1, 1] });
    orders.add(2, { outcome: 'placed' });
    orders.add(1, { outcome: 'placed' });
    lag.set(7);
    took.observe(0.5);
    const text = await metrics.text();
    expect(text).toContain('pm_orders_total{outcome="placed",service="matcher"} 3');
    expect(text).toContain('pm_lag_records{service="matcher"} 7');
    expect(text).toMatch(/pm_took_seconds_bucket\{le="1",service="matcher"\} 1/);
    expect(metrics.contentType).toContain('text/plain');
  });

  test('reads a gauge at each scrape', async () => {
    const metrics = openMetrics('matcher');
    let value = 1;
    metrics.gauge({ name: 'pm_open_orders', help: 'Open orders.', read: () => value });
    value = 41;
    expect(await metrics.text()).toContain('pm_open_orders{service="matcher"} 41');
  });

  test('opens every metric of a declaration under its key', async () => {
    const metrics = openMetrics('matcher');
    const { orders, open, took } = metrics.open({
      orders: { type: 'counter', name: 'pm_orders_total', help: 'Orders.', labels: ['outcome'] },
      open: { type: 'gauge', name: 'pm_open', help: 'Open.' },
      took: { type: 'histogram', name: 'pm_took_seconds', help: 'Took.', buckets: [1] },
    });
    orders.add(3, { outcome: 'placed' });
    open.set(2);
    took.observe(0.5);
    const text = await metrics.text();
    expect(text).toContain('pm_orders_total{outcome="placed",service="matcher"} 3');
    expect(text).toContain('pm_open{service="matcher"} 2');
    expect(text).toContain('pm_took_seconds_bucket{le="1",service="matcher"} 1');
  });

  test('reads all series of a gauge at each scrape, and drops those that are gone', async () => {
    const metrics = openMetrics('matcher');
    let lags = [1, 2];
    metrics.gauge({
      name: 'pm_lag_seconds',
      help: 'Lag.',
      labels: ['partition'],
      readAll: () => lags.map((value, partition) => ({ labels: { partition }, value })),
    });
    expect(await metrics.text()).toContain('pm_lag_seconds{partition="1",service="matcher"} 2');
    lags = [7];
    const text = await metrics.text();
    expect(text).toContain('pm_lag_seconds{partition="0",service="matcher"} 7');
    expect(text).not.toContain('partition="1"');
  });

  /** A series of a process that was started with options, after its statements. */
  function seriesOfProcess(series: string, args: readonly string[], options = '', source = '') {
    const url = JSON.stringify(new URL('../../dist/metrics/index.js', import.meta.url).href);
    const program = `import { openMetrics } from ${url}; ${source}; console.log(await openMetrics('a').text())`;
    const env = { ...process.env, NODE_OPTIONS: options };
    const all = [...args, '--input-type=module', '-e', program];
    const text = execFileSync(process.execPath, all, { env, encoding: 'utf8' });
    return Number(new RegExp(`^${series}\\S* (\\d+)$`, 'm').exec(text)?.[1]) / (1024 * 1024);
  }

  test('shows the bound of its heap without young objects, as the process was started with it', () => {
    const boundWith = (args: readonly string[], options = '') =>
      seriesOfProcess('pm_heap_limit_bytes', args, options);
    const shared = '--max-semi-space-size=32 --max-old-space-size=192';
    expect(boundWith([], shared)).toBe(192);
    expect(boundWith(['--max-old-space-size=300'], shared)).toBe(300);
    expect(boundWith([])).toBeGreaterThan(300);
  });

  test('counts objects as old that outlived a collection, and no young ones', () => {
    const keep = 'const kept = Array.from({ length: 400_000 }, (_, at) => ({ at }))';
    const args = ['--expose-gc', '--min-semi-space-size=64', '--max-semi-space-size=64'];
    const oldAfter = (source: string) => seriesOfProcess('pm_heap_old_bytes', args, '', source);
    const before = oldAfter('');
    expect(oldAfter(keep) - before).toBeLessThan(6);
    expect(oldAfter(`${keep}; gc()`) - before).toBeGreaterThan(10);
  });

  test('shows how many entries of each kind the process keeps', async () => {
    const metrics = openMetrics('streams');
    measureHeld(metrics, () => ({ markets: 7, wallets: 40 }));
    const text = await metrics.text();
    expect(text).toContain('pm_held_entries{what="markets",service="streams"} 7');
    expect(text).toContain('pm_held_entries{what="wallets",service="streams"} 40');
  });

  test('has the metrics of the process', async () => {
    const text = await openMetrics('matcher').text();
    for (const name of ['process_cpu_seconds_total', 'resident_memory', 'eventloop_lag']) {
      expect(text).toContain(name);
    }
  });

  test('shows a counter without labels from the start, as zero', async () => {
    const metrics = openMetrics('matcher');
    metrics.counter({ name: 'pm_skipped_total', help: 'Skipped.' });
    expect(await metrics.text()).toContain('pm_skipped_total{service="matcher"} 0');
  });

  test('counts label sets beyond the limit together', async () => {
    const metrics = openMetrics('matcher');
    const counter = metrics.counter({ name: 'pm_x_total', help: 'X.', labels: ['id'] });
    for (let id = 0; id < 2_100; id += 1) counter.add(1, { id });
    counter.add(1, { id: 0 });
    const text = await metrics.text();
    expect(text).toContain('pm_x_total{id="other",service="matcher"} 100');
    expect(text).toContain('pm_x_total{id="0",service="matcher"} 2');
    expect(text).not.toContain('id="2050"');
  });

  test.each([
    ['a name without pm_', { name: 'orders_total', help: 'Orders.' }],
    ['a name in camel case', { name: 'pm_ordersTotal', help: 'Orders.' }],
    ['a help that is no sentence', { name: 'pm_orders_total', help: 'Orders' }],
  ])('refuses %s', (_, options) => {
    expect(() => openMetrics('matcher').counter(options)).toThrow(Fault);
  });

  test('refuses two metrics of one name', () => {
    const metrics = openMetrics('matcher');
    metrics.counter({ name: 'pm_x_total', help: 'X.' });
    expect(() => metrics.counter({ name: 'pm_x_total', help: 'X.' })).toThrow(/already/);
  });

  test('refuses a gauge whose series are read and that has no labels', () => {
    const options = { name: 'pm_x', help: 'X.', readAll: () => [] };
    expect(() => openMetrics('matcher').gauge(options)).toThrow(Fault);
  });

  test('refuses a gauge that is read and has labels', () => {
    const options = { name: 'pm_x', help: 'X.', labels: ['a'], read: () => 1 } as const;
    expect(() => openMetrics('matcher').gauge(options)).toThrow(Fault);
  });
});
