import { setTimeout as wait } from 'node:timers/promises';
import { seriesNamedIn } from '@pm/operate/observability/alert';
import { metricSections } from '@pm/operate/observability/metrics';
import { findPromtool, judgeRules } from '@pm/operate/observability/promtool';
import { annotationsOf, alerts as declared, rulesFile } from '@pm/operate/observability/rules-file';
import { engineUrls } from '../services-under-test.ts';
import { untilNone, WholeExchange } from '../whole-exchange.ts';
import { EngineGate } from './engine-gate.ts';
import { heldFor, lastMoment, type Scrape, scrape, worst } from './scrape.ts';

/** A busy machine may need longer than the rules' thresholds. */
const becomesMaxMs = 120_000;
/** A scrape takes processor time of every process. */
const scrapeEveryMs = 500;
/** A projection that is later than this fires its alert. */
const lateMs = 30_000;
const openMaxMs = 900_000;
const judgeMaxMs = 200_000;

const events = [
  {
    slug: 'observed',
    title: 'Observed',
    markets: [{ slug: 'observed-0', question: 'Observed?' }],
  },
];

/** Scrapes of all services before both faults, during each fault, and after them. */
interface Scrapes {
  readonly healthy: Scrape;
  readonly matcherStill: Scrape;
  readonly clickhouseAway: Scrape;
  readonly after: Scrape;
}

const gate = new EngineGate(engineUrls().clickhouse);
let exchange: WholeExchange;
let scrapes: Scrapes;

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

const hasLivePartition = (found: Scrape) =>
  worst(found, 'pm_matcher_partition_state', 'state="live"') === 1 &&
  worst(found, 'up{', 'matcherOps') === 1 &&
  worst(found, 'pm_ingress_partitions_silent') === 0;

const isHealthy = (found: Scrape) =>
  hasLivePartition(found) &&
  worst(found, 'pm_operator_partitions_silent') === 0 &&
  worst(found, 'pm_query_engine_up', 'clickhouse') === 1 &&
  worst(found, 'pm_query_complete_age_seconds', 'tables') >= 0 &&
  worst(found, 'pm_query_complete_age_seconds', 'tables') < 20 &&
  worst(found, 'pm_projector_lag_seconds') < 20 &&
  worst(found, 'pm_matcher_lag_seconds') < 1;

const isMatcherStill = (found: Scrape) =>
  worst(found, 'up{', 'matcherOps') === 0 && worst(found, 'pm_ingress_partitions_silent') === 1;

const isClickHouseAway = (found: Scrape) =>
  hasLivePartition(found) &&
  worst(found, 'pm_query_engine_up', 'redis') === 1 &&
  worst(found, 'pm_query_engine_up', 'clickhouse') === 0 &&
  worst(found, 'pm_projector_lag_seconds', 'view="tables"') > lateMs / 1_000;

/**
 * One fault after the other. ClickHouse goes before the matcher is back: then the time in which nothing was booked
 * counts for the lag of the tables, too, as the first record after it is not stored.
 */
async function observe(): Promise<Scrapes> {
  const healthy = await scrapeWhen('a healthy exchange', isHealthy);
  const stillMs = performance.now();
  exchange.suspend('matcher');
  const matcherStill = await scrapeWhen('a silent partition', isMatcherStill);
  gate.shut();
  await exchange.kill('matcher');
  await wait(Math.max(0, lateMs - (performance.now() - stillMs)));
  const clickhouseAway = await scrapeWhen('stale tables', isClickHouseAway);
  gate.unshut();
  const after = await scrapeWhen('a healthy exchange again', isHealthy);
  return { healthy, matcherStill, clickhouseAway, after };
}

beforeAll(async () => {
  const clickhouseUrl = await gate.open();
  exchange = await WholeExchange.open('observed', { partitions: 1, events, clickhouseUrl });
  try {
    scrapes = await observe();
  } finally {
    // An exchange that is open takes processor time from promtool.
    await exchange.close();
  }
}, openMaxMs);

afterAll(() => gate.close(), 60_000);

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
    const before = { alert, at: lastMoment.before, firing: always[alert.name] ?? [] };
    const labels = firing[alert.name] as readonly Readonly<Record<string, string>>[] | undefined;
    if (labels === undefined) return [before];
    return [before, { alert, at: lastMoment.during, firing: labels }];
  });
  const rules = rulesFile();
  const series = heldFor(readByRules(scrapes.healthy), readByRules(during));
  return judgeRules(promtool, [{ name: 'scraped', rules, series, expected }]);
}

test('every series that services serve is declared, and has a page', () => {
  const names = new Set<string>(
    metricSections.flatMap(({ metrics }) => metrics.map(({ name }) => name)),
  );
  const served = [...scrapes.healthy.keys()].map((series) => series.replace(/\{.*$/, ''));
  const undeclared = served.filter(
    (name) =>
      name !== 'up' && !names.has(name) && !names.has(name.replace(/_(bucket|sum|count)$/, '')),
  );
  expect([...new Set(undeclared)]).toEqual([]);
  expect(declared.every((alert) => annotationsOf(alert).runbook_url !== '')).toBe(true);
});

test(
  'a matcher that stands still fires the alerts of its process and of silent partitions',
  () => {
    const firing = {
      PartitionSilent: [{}],
      ServiceDown: [{ job: 'exchange', instance: 'matcherOps' }],
      EngineAway: [],
    };
    expect(judge(scrapes.matcherStill, firing)).toBe('');
    expect(worst(scrapes.after, 'pm_matcher_takeover_seconds_count')).toBe(1);
    expect(worst(scrapes.after, 'pm_matcher_takeover_seconds_sum')).toBeGreaterThan(0.5);
  },
  judgeMaxMs,
);

test(
  'ClickHouse away fires the alerts of engine and freshness, and nothing fired before',
  () => {
    const firing = {
      EngineAway: [{ engine: 'clickhouse' }],
      ProjectionStandsStill: [{ view: 'tables' }],
      PartitionSilent: [],
      ServiceDown: [],
    };
    expect(judge(scrapes.clickhouseAway, firing)).toBe('');
  },
  judgeMaxMs,
);
