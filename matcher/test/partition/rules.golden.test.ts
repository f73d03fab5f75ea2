import { executionEvent } from '@pm/schemas/log/executions';
import { newestRules, rules } from '@pm/schemas/log/log-rules';
import { command } from '@pm/schemas/log/orders';
import { GoldenHistory, goldenHead } from './golden-history.ts';
import {
  codecFor,
  constants,
  executionsCodec,
  type GoldenLog,
  hasGolden,
  inputOf,
  readGolden,
  replayGolden,
  writeGolden,
} from './golden-log.ts';

/**
 * Logs of every version of the rules with the outputs that they had when the version was new. They are files, so that
 * neither the records nor the outputs follow a change of the code. Change none: logs of that version would not replay.
 * Missing files are written by
 *
 *     PM_TEST_GOLDEN=write npm run test:unit -- --testPathPatterns rules.golden
 */
const versions = Array.from({ length: newestRules + 1 }, (_, version) => version);
/** The version that was the newest when these logs began to be kept. */
const newestThen = 6;
/** The versions that a log goes through, and that of its orders. */
interface Golden {
  readonly begun: readonly number[];
  readonly orders: number;
}

/**
 * Under each version; through all up to each one that was the newest since; and what the version before each of those
 * says of its orders.
 */
const goldens = new Map<string, Golden>([
  ...versions.map((last) => [`rules-${last}`, { begun: [last], orders: last }] as const),
  ...versions.slice(newestThen).map((last) => {
    return [`rules-0-to-${last}`, { begun: versions.slice(0, last + 1), orders: last }] as const;
  }),
  ...versions.slice(newestThen + 1).map((last) => {
    return [`orders-${last}-rules-${last - 1}`, { begun: [last - 1], orders: last }] as const;
  }),
]);
const names = [...goldens.keys()];

beforeAll(async () => {
  if (process.env['PM_TEST_GOLDEN'] !== 'write') return;
  for (const [name, { begun, orders }] of goldens) {
    if (hasGolden(name)) continue;
    const head = goldenHead(begun);
    const { records } = new GoldenHistory(begun, orders);
    writeGolden(name, { head, ...(await replayGolden(head, records)) });
  }
});

/** The events of an output, for what a difference says. */
function eventsOf(out: string | undefined) {
  return executionsCodec.decode(Buffer.from(out ?? '', 'hex')).events;
}

/** The first difference between a log and what this version makes of its records; nothing when there is none. */
async function differenceOf({ head, records, end }: GoldenLog) {
  const replayed = await replayGolden(head, records.map(inputOf));
  for (const [at, { offset, out }] of records.entries()) {
    const now = replayed.records[at]?.out;
    if (now !== out) return { offset, before: eventsOf(out), now: eventsOf(now) };
  }
  const { chain, state } = replayed.end;
  return chain === end.chain && state === end.state
    ? null
    : { offset: -1, before: end, now: replayed.end };
}

test.each(names)(
  '%s gives the outputs, the chain and the state that it always gave',
  async (name) => {
    expect(await differenceOf(readGolden(name))).toBeNull();
  },
);

test('constants that are part of the rules are those of every version', () => {
  for (const name of names)
    expect([name, constants]).toMatchObject([name, readGolden(name).head.constants]);
});

/** Content of a log: kinds of the commands that were taken, of events, and reasons of rejections. */
async function kindsOf({ head, records }: GoldenLog) {
  const codec = codecFor(head);
  const kinds = {
    commands: new Set<string>(),
    events: new Set<string>(),
    reasons: new Set<string>(),
  };
  for (const { in: value, out } of records) {
    const events = eventsOf(out);
    for (const event of events) {
      kinds.events.add(event.kind);
      if (event.kind === 'RecordRejected') kinds.reasons.add(event.reason);
    }
    if (events.some(({ kind }) => kind === 'RecordRejected')) continue;
    const bytes = Buffer.from(value ?? '', 'hex');
    await codec.prepare(bytes);
    const { commands } = codec.decode(bytes);
    for (const { kind } of commands) kinds.commands.add(kind);
  }
  return kinds;
}

const reasons: readonly string[] = executionEvent.branches.flatMap((one) =>
  one.name === 'RecordRejected' ? one.fields[0].type.symbols : [],
);
/** Commands and reasons of rejections that no log of an earlier version can hold, with their first version. */
const later: Readonly<Record<string, number>> = {
  ClaimPartition: rules.ownerTerms,
  CancelByIds: rules.fencedIds,
  OLD_SEQUENCE: rules.usedSequences,
  CLOCK_LEAP: rules.witnessedClock,
  // The default of readers that do not know a reason.
  UNKNOWN: Number.POSITIVE_INFINITY,
};

test.each([...goldens])(
  '%s has commands, events and rejections of every kind',
  async (name, { orders }) => {
    const known = (all: readonly string[]) =>
      all.filter((one) => orders >= (later[one] ?? 0)).sort();
    const kinds = await kindsOf(readGolden(name));
    expect([...kinds.commands].sort()).toEqual(known(command.branches.map((one) => one.name)));
    expect([...kinds.events].sort()).toEqual(known(executionEvent.branches.map((one) => one.name)));
    expect([...kinds.reasons].sort()).toEqual(known(reasons));
  },
);

describe('a rule that a version began', () => {
  afterEach(() => jest.restoreAllMocks());
  const begins = Object.entries(rules) as [string, number][];
  const newestOf = (name: string) => Math.max(...(goldens.get(name)?.begun ?? []));
  const begin = (rule: string, version: number) =>
    jest.replaceProperty(rules as Record<string, number>, rule, version);

  test.each(begins)(
    'changes what its log says when it begins a version later: %s, %i',
    async (rule, version) => {
      const log = readGolden(`rules-${version}`);
      begin(rule, version + 1);
      expect(await differenceOf(log)).not.toBeNull();
    },
  );

  test.each(begins)(
    'changes what a log before says when it begins a version earlier: %s, %i',
    async (rule, version) => {
      const before = names.filter((name) => newestOf(name) === version - 1).map(readGolden);
      begin(rule, version - 1);
      const differences = await Promise.all(before.map(differenceOf));
      expect(differences.some((one) => one !== null)).toBe(true);
    },
  );
});
