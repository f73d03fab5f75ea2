import { type FaultsReport, lineOf, runFaults } from '../../src/faults/run-faults.ts';
import { scenarios } from '../../src/faults/scenarios.ts';
import { faultWorld } from '../../src/faults/world.ts';
import type { World } from '../../src/smoke/world.ts';

/** Three brokers and all services under load, each fault once, and the comparison of everything at the end. */
const limitMs = 1_800_000;

const short = scenarios.filter(({ isLong }) => isLong !== true);
const lines: string[] = [];
let world: World | null = null;
let report: FaultsReport;

beforeAll(async () => {
  const progress = (line: string) => void lines.push(line);
  try {
    world = await faultWorld(progress);
    report = await runFaults(world, short, progress);
  } catch (error) {
    throw new Error(lines.slice(-30).join('\n'), { cause: error });
  }
}, limitMs);

afterAll(async () => {
  console.log((report?.results ?? []).map(lineOf).join('\n'));
  await world?.end();
}, 120_000);

test.each(short.map(({ name }) => name))('the exchange recovers alone: %s', (name) => {
  const result = report.results.find(({ scenario }) => scenario.name === name);
  expect(result?.problems).toEqual([]);
});

test('no order was answered as a success and never booked, and no refused one is booked', () => {
  expect(report.lost).toEqual([]);
  expect(report.sent.filter(({ outcome }) => outcome === 'acknowledged').length).toBeGreaterThan(
    1_000,
  );
});

test('each order whose fate was open has one fate in the end', () => {
  expect(report.unresolved).toEqual([]);
});

test('log, tables, books and ledger agree after all faults', () => {
  expect(report.problems).toEqual([]);
});
