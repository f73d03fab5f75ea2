import { present } from '@pm/kit/assert';
import { runLength } from '../../../kit/test/long-runs.ts';
import { type FaultsReport, lineOf, runFaults } from '../../src/faults/run-faults.ts';
import { type Scenario, scenarios } from '../../src/faults/scenarios.ts';
import { faultWorld } from '../../src/faults/world.ts';
import type { World } from '../../src/smoke/world.ts';

/** Three brokers and all services under load, each fault once, and the comparison of everything at the end. */
const limitMs = 1_800_000;

/** One of each engine; short runs have the first ones. */
const first: readonly string[] = [
  'leader killed',
  'ClickHouse killed in an insert',
  'Redis killed, back empty',
  'registry away at a start of all services',
];
const others = scenarios.filter(({ name }) => !first.includes(name));
const ordered = [...first.map((name) => scenarioNamed(name)), ...others];
const chosen = ordered.slice(0, runLength({ test: first.length, deep: scenarios.length }));
/**
 * Short runs have fewer than `npm start`, each of which gets orders: three brokers need time on two cores. A broker
 * that is killed is the one that leads most of them.
 */
const partitions = chosen.length > first.length ? undefined : 2;

function scenarioNamed(wanted: string): Scenario {
  return present(
    scenarios.find(({ name }) => name === wanted),
    `a scenario ${wanted}`,
  );
}
const lines: string[] = [];
let world: World | null = null;
let report: FaultsReport;

beforeAll(async () => {
  const progress = (line: string) => void lines.push(line);
  try {
    world = await faultWorld(progress, partitions);
    report = await runFaults(world, chosen, progress);
  } catch (error) {
    throw new Error(lines.slice(-30).join('\n'), { cause: error });
  }
}, limitMs);

afterAll(async () => {
  console.log((report?.results ?? []).map(lineOf).join('\n'));
  await world?.end();
}, 120_000);

test.each(chosen.map(({ name }) => name))('the exchange recovers alone: %s', (name) => {
  const result = report.results.find(({ scenario }) => scenario.name === name);
  expect(result?.problems).toEqual([]);
});

test('no order was answered as a success and never booked, and no refused one is booked', () => {
  expect(report.lost).toEqual([]);
  const acknowledged = report.sent.filter(({ outcome }) => outcome === 'acknowledged');
  const { markets } = present(world, 'the world is open');
  // Orders flow before the first fault and after each of them.
  expect(acknowledged.length).toBeGreaterThan(5 * markets.length * (chosen.length + 1));
});

test('each order whose fate was open has one fate in the end', () => {
  expect(report.unresolved).toEqual([]);
});

test('log, tables, books and ledger agree after all faults', () => {
  expect(report.problems).toEqual([]);
});
