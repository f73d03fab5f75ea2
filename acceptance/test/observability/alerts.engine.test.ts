import { setTimeout as wait } from 'node:timers/promises';
import { seriesNamedIn } from '@pm/operate/observability/alert';
import { metricSections } from '@pm/operate/observability/metrics';
import { findPromtool, judgeRules } from '@pm/operate/observability/promtool';
import { annotationsOf, alerts as declared, rulesFile } from '@pm/operate/observability/rules-file';
import { engineUrls } from '../services-under-test.ts';
import { untilNone, WholeExchange } from '../whole-exchange.ts';
import { EngineGate } from './engine-gate.ts';
import { heldFor, type Scrape, scrape, worst } from './scrape.ts';

/** A busy machine may need longer than the rules' thresholds. */
const becomesMaxMs = 120_000;
/** A scrape takes processor time of every process. */
const scrapeEveryMs = 500;

const events = [
  {
    slug: 'observed',
    title: 'Observed',
    markets: [{ slug: 'observed-0', question: 'Observed?' }],
  },
];

const gate = new EngineGate(engineUrls().clickhouse);
let exchange: WholeExchange;
let healthy: Scrape;

/** The first scrape of which it is so. */
async function scrapeWhen(what: string, isSo: (found: Scrape) => boolean): Promise<Scrape> {
  let found = await scrape(exchange.ports);
  const missing = async () => {
    await wait(scrapeEveryMs);
    found = await scrape(exchange.ports);
    return isSo(found) ? [] : [what];
  };
  await untilNone(what, missing, becomesMaxMs);
  return found;
}

const isHealthy = (found: Scrape) =>
  worst(found, 'pm_matcher_partition_state', 'state="live"') === 1 &&
  worst(found, 'pm_ingress_partitions_silent') === 0 &&
  worst(found, 'pm_operator_partitions_silent') === 0 &&
  worst(found, 'pm_query_engine_up', 'clickhouse') === 1 &&
  worst(found, 'pm_query_complete_age_seconds', 'tables') >= 0 &&
  worst(found, 'pm_query_complete_age_seconds', 'tables') < 20 &&
  worst(found, 'pm_projector_lag_seconds') < 20 &&
  worst(found, 'pm_matcher_lag_seconds') < 1;

beforeAll(async () => {
  const clickhouseUrl = await gate.open();
  exchange = await WholeExchange.open('observed', { partitions: 1, events, clickhouseUrl });
  healthy = await scrapeWhen('a healthy exchange', isHealthy);
}, 300_000);

afterAll(async () => {
  await exchange?.close();
  await gate.close();
}, 60_000);

const promtool = findPromtool();
if (promtool === null) {
  process.stderr.write('alerts: no promtool on the PATH and no package prometheus: not judged\n');
}

/** The Redis of tests writes to its disk once a second, and the rules find that. */
const always: Readonly<Record<string, readonly Readonly<Record<string, string>>[]>> = {
  LedgerNotSynced: [{}],
};

const read = new Set(declared.flatMap(({ expr }) => seriesNamedIn(expr)));
/** The series that a rule reads: promtool takes long for all of them. */
const readByRules = (found: Scrape): Scrape =>
  new Map([...found].filter(([series]) => read.has(series.replace(/\{.*$/, ''))));

/** Judges the rules by what services served before a fault and during it. */
function judge(during: Scrape, firing: Readonly<Record<string, readonly object[]>>): string {
  if (promtool === null) return '';
  const expected = declared.flatMap((alert) => {
    const before = { alert, at: '9m30s', firing: always[alert.name] ?? [] };
    const labels = firing[alert.name] as readonly Readonly<Record<string, string>>[] | undefined;
    return labels === undefined ? [before] : [before, { alert, at: '29m30s', firing: labels }];
  });
  const rules = rulesFile();
  const series = heldFor(readByRules(healthy), readByRules(during));
  return judgeRules(promtool, [{ name: 'scraped', rules, series, expected }]);
}

test('every series that services serve is declared, and has a page', () => {
  const names = new Set<string>(
    metricSections.flatMap(({ metrics }) => metrics.map(({ name }) => name)),
  );
  const served = [...healthy.keys()].map((series) => series.replace(/\{.*$/, ''));
  const undeclared = served.filter(
    (name) =>
      name !== 'up' && !names.has(name) && !names.has(name.replace(/_(bucket|sum|count)$/, '')),
  );
  expect([...new Set(undeclared)]).toEqual([]);
  expect(declared.every((alert) => annotationsOf(alert).runbook_url !== '')).toBe(true);
});

test('ClickHouse away fires the alerts of engine and freshness, and nothing fired before', async () => {
  gate.shut();
  const during = await scrapeWhen(
    'stale tables',
    (found) =>
      worst(found, 'pm_query_engine_up', 'redis') === 1 &&
      worst(found, 'pm_query_engine_up', 'clickhouse') === 0 &&
      worst(found, 'pm_projector_lag_seconds', 'view="tables"') > 30,
  );
  gate.unshut();
  const firing = {
    EngineAway: [{ engine: 'clickhouse' }],
    ProjectionStandsStill: [{ view: 'tables' }],
    PartitionSilent: [],
    ServiceDown: [],
  };
  expect(judge(during, firing)).toBe('');
  await scrapeWhen('a healthy exchange again', isHealthy);
}, 400_000);

test('a matcher that stands still fires the alerts of its process and of silent partitions', async () => {
  exchange.suspend('matcher');
  const during = await scrapeWhen(
    'a silent partition',
    (found) =>
      worst(found, 'up{', 'matcherOps') === 0 && worst(found, 'pm_ingress_partitions_silent') === 1,
  );
  await exchange.kill('matcher');
  const firing = {
    PartitionSilent: [{}],
    ServiceDown: [{ job: 'exchange', instance: 'matcherOps' }],
    EngineAway: [],
  };
  expect(judge(during, firing)).toBe('');
  const after = await scrapeWhen('a live partition', isHealthy);
  expect(worst(after, 'pm_matcher_takeover_seconds_count')).toBe(1);
  expect(worst(after, 'pm_matcher_takeover_seconds_sum')).toBeGreaterThan(0.5);
}, 200_000);
