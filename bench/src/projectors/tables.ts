import {
  mebibytesText,
  msText,
  percentText,
  rateText,
  ratioText,
  spreadOf,
  spreadText,
} from '../report/numbers.ts';
import type { ProfileGroup, ProfileShares } from '../report/profile.ts';
import type { Report, Table } from '../report/report.ts';
import type { Burst } from './burst.ts';
import type { RecordedInsert } from './recorder.ts';
import { type BarePassage, type Passage, warmShare } from './rounds.ts';
import type { Trading } from './trading.ts';

export interface Round {
  readonly projected: Passage;
  readonly bare: readonly BarePassage[];
}

export interface Findings {
  readonly trading: Pick<Trading, 'commands' | 'fills'> & {
    readonly records: number;
    readonly bytes: number;
    readonly perEnvelope: number;
  };
  readonly burst: Burst;
  readonly inserts: readonly RecordedInsert[];
  readonly rounds: readonly Round[];
  readonly profile: ProfileShares;
}

export function reportOf(found: Findings): Report {
  const { trading, rounds, inserts, burst, profile } = found;
  const { commands, fills, records, bytes, perEnvelope } = trading;
  const sent = inserts.reduce((sum, one) => sum + one.to - one.from, 0);
  const rows = inserts.reduce((sum, one) => sum + one.rows, 0);
  return {
    name: 'projectors',
    title: 'Executions into tables, beside a bare insert of the same rows',
    conditions: [
      `${commands.toLocaleString('en')} commands applied by the real engine, ${perEnvelope} an envelope: ${fills.toLocaleString('en')} fills in ${records} records of one partition, ${mebibytesText(bytes)}; 100 markets, 64 wallets, either token by a coin.`,
      `Tables view: a process of its own with the settings of the stack, from empty tables to its last commit; the log is read from Kafka, no other view and no leaderboards. ${rows.toLocaleString('en')} rows in ${inserts.length} inserts.`,
      `Bare insert: the ${mebibytesText(sent)} that one such run sent, recorded on the wire and held in memory, posted again by node:http with the same statements, settings and tokens, into fresh tables, with one and with more requests on their way. No log is read, nothing is decoded, folded or written as bytes.`,
      'Both talk to the same ClickHouse (the embedded engine behind its local front, a process of its own) on the same cores; fresh tables each time, dropped afterwards.',
      `One run of either kind warms up, and of each run the first ${percentText(warmShare)} are not measured. The projector is measured from one commit to another, with as many rows gathered and on their way at both.`,
      'After every run the rows and a hash of each table are those of the recorded run.',
    ],
    tables: [
      rateTable(rounds),
      cpuTable(rounds),
      burstTable(burst),
      groupTable(profile.groups),
      functionTable(profile.functions),
    ],
    notes: notesOf(found),
    figures: { rounds: rounds.map(figuresOf), burst, profile },
  };
}

const perSecond = ({ rows, used }: Passage): number => rows / used.wall;

/** Several runs of one kind. */
function kinds(rounds: readonly Round[]): readonly (readonly [string, readonly Passage[]])[] {
  const flights = rounds[0]?.bare.map(({ inFlight }) => inFlight) ?? [];
  return [
    ['projector', rounds.map(({ projected }) => projected)],
    ...flights.map(
      (inFlight, at) =>
        [
          `bare insert, ${inFlight} on the way`,
          rounds.flatMap(({ bare }) => bare[at] ?? []),
        ] as const,
    ),
  ];
}

/** The projector compared with each kind of bare insert, round by round, as text. */
function ratioTexts(rounds: readonly Round[]): readonly string[] {
  const [, ...bare] = kinds(rounds);
  return bare.map(([name, passages]) => {
    const each = rounds.map(
      ({ projected }, at) => perSecond(projected) / perSecond(passages[at] ?? projected),
    );
    return `against the ${name}: ${each.map(ratioText).join(', ')}; median ${ratioText(spreadOf(each).median)}`;
  });
}

/** The bare insert compared with the projector by the processor time that a row costs all processes together. */
function cpuRatio({ projected, bare }: Round): number {
  return Math.min(...bare.map(cpuOfRow)) / cpuOfRow(projected);
}

const cpuOfRow = ({ rows, used }: Passage): number =>
  (used.projector + used.clickhouse + used.kafka) / rows;

function rateTable(rounds: readonly Round[]): Table {
  return {
    title: 'Rows a second, all tables, min / median / max (target: 0.7 of a bare insert)',
    head: ['what', 'wall', 'per second of its own processor time', 'and of ClickHouse'],
    rows: kinds(rounds).map(([name, passages]) => [
      name,
      spreadText(spreadOf(passages.map(perSecond))),
      spreadText(spreadOf(passages.map(({ rows, used }) => rows / used.projector))),
      spreadText(
        spreadOf(passages.map(({ rows, used }) => rows / (used.projector + used.clickhouse))),
      ),
    ]),
  };
}

function cpuTable(rounds: readonly Round[]): Table {
  const median = (passages: readonly Passage[], of: (passage: Passage) => number) =>
    spreadOf(passages.map((one) => (of(one) / one.rows) * 1e6)).median.toFixed(2);
  return {
    title: 'Processor time by process, microseconds a row (median)',
    head: ['what', 'itself', 'ClickHouse', 'broker'],
    rows: kinds(rounds).map(([name, passages]) => [
      name,
      median(passages, ({ used }) => used.projector),
      median(passages, ({ used }) => used.clickhouse),
      median(passages, ({ used }) => used.kafka),
    ]),
  };
}

function burstTable({ views }: Burst): Table {
  return {
    title: 'After a burst onto idle views',
    head: ['view', 'largest lag, records', 'largest lag, ms', 'complete after, ms'],
    rows: views.map(({ view, largestLagRecords, largestLagMs, completeMs }) => [
      view,
      String(largestLagRecords),
      msText(largestLagMs),
      msText(completeMs),
    ]),
  };
}

function groupTable(groups: readonly ProfileGroup[]): Table {
  return {
    title: 'Where the projector spends its processor time (V8 profile of one run more)',
    head: ['group', 'share', 'seconds'],
    rows: groups.map(({ name, share, seconds }) => [name, percentText(share), rateText(seconds)]),
  };
}

function functionTable(functions: readonly ProfileGroup[]): Table {
  return {
    title: 'Top functions by self time',
    head: ['function', 'share'],
    rows: functions.map(({ name, share }) => [`\`${name}\``, percentText(share)]),
  };
}

function notesOf({ rounds, burst, trading }: Findings): string[] {
  const onCpu = spreadOf(rounds.map(cpuRatio)).median;
  return [
    `Rows a second of the projector by wall time, round by round: ${ratioTexts(rounds).join('; ')}. By the processor time that a row costs all processes, against the cheaper of them: ${ratioText(onCpu)}; there decoding and folding count in full, though they run beside ClickHouse.`,
    `The burst: ${trading.fills.toLocaleString('en')} fills in ${burst.records} records, all acknowledged after ${msText(burst.appendedMs)} ms; both views in one process, without the ledger. A lag in milliseconds is the time since the broker acknowledged the oldest record that was not stored; an appender beside uses the same cores.`,
  ];
}

function figuresOf({ projected, bare }: Round) {
  const plain = ({ rows, used }: Passage) => ({ rows, used });
  return {
    projected: plain(projected),
    bare: bare.map((one) => ({ ...plain(one), inFlight: one.inFlight })),
  };
}
