import type { CopyResult } from '../partition-copy.ts';
import {
  mebibytesText,
  percentText,
  rateText,
  ratioText,
  spreadOf,
  spreadText,
} from '../report/numbers.ts';
import type { ProfileGroup, ProfileShares } from '../report/profile.ts';
import type { Report } from '../report/report.ts';
import type { Outcome } from '../stream/outcome.ts';
import type { Passage } from './run.ts';

export interface Round {
  readonly passage: Passage;
  readonly copy: CopyResult;
}

export interface Findings {
  readonly rounds: readonly Round[];
  readonly outcomes: readonly Outcome[];
  readonly profile: ProfileShares;
  readonly perEnvelope: number;
}

export function reportOf(found: Findings): Report {
  const { rounds, outcomes, profile } = found;
  const [first] = rounds;
  const commands = first?.passage.commands ?? 0;
  const refused = outcomes.reduce((sum, outcome) => sum + outcome.refused, 0);
  const codes = [...new Set(outcomes.flatMap((outcome) => [...outcome.codes]))].join(', ');
  const fills = outcomes.map(({ fills: count }) => count).join(', ');
  return {
    name: 'partition',
    title: 'One partition, Kafka to Kafka',
    conditions: [
      `${commands.toLocaleString('en')} commands a round in envelopes of ${found.perEnvelope}, signed ahead of time with the ingress key; ${mebibytesText(first?.passage.inputBytes ?? 0)} in, ${mebibytesText(first?.passage.outputBytes ?? 0)} out; small shape of bench:matching, either token by a coin.`,
      'One matcher process as the stack starts it, one broker, replication 1, acks=all, idempotent producers; ticks, snapshots and checkpoints as in the product. Generator, reader, matcher and broker share the cores.',
      `A quarter of a round warms up; then ${rounds.length} rounds, each followed by a plain kafkajs copy (own process, no decoding) of the same input records.`,
      `Refused in the measured rounds: ${refused} of ${commands * rounds.length} (${codes}: rounds share their books, so some takers find nothing); fills ${fills}.`,
      'Not included: making and signing the envelopes, ingress, projectors.',
    ],
    tables: [
      rateTable(rounds),
      cpuTable(rounds),
      groupTable(profile.groups),
      functionTable(profile.functions),
    ],
    notes: [],
    figures: { rounds, fills: outcomes.map((outcome) => outcome.fills), refused, profile },
  };
}

function rateTable(rounds: readonly Round[]) {
  const wall = rounds.map(({ passage }) => passage.commands / passage.seconds);
  const matcher = rounds.map(({ passage }) => passage.commands / passage.cpu.matcher);
  const copied = rounds.map(({ passage, copy }) => passage.commands / copy.seconds);
  const copyCpu = rounds.map(({ passage, copy }) => passage.commands / copy.cpuSeconds);
  const row = (name: string, samples: readonly number[], ceiling: readonly number[]) => [
    name,
    spreadText(spreadOf(samples)),
    ratioText(spreadOf(samples.map((rate, index) => rate / (ceiling[index] ?? Number.NaN))).median),
  ];
  return {
    title: 'Commands a second, min / median / max',
    head: ['what', 'commands/s', 'ratio to the copy'],
    rows: [
      row('first append to last execution readable, wall', wall, copied),
      row('plain kafkajs copy of the same input, wall', copied, copied),
      row('matcher, per second of its processor time', matcher, copyCpu),
      row('plain kafkajs copy, per second of its processor time', copyCpu, copyCpu),
    ],
  };
}

function cpuTable(rounds: readonly Round[]) {
  const parts = ['generator', 'matcher', 'reader', 'broker'] as const;
  const perCommand = (part: (typeof parts)[number]) =>
    spreadOf(rounds.map(({ passage }) => (passage.cpu[part] / passage.commands) * 1e6));
  return {
    title: 'Processor time by process, microseconds a command (median)',
    head: [...parts, 'appending took, of the wall time'],
    rows: [
      [
        ...parts.map((part) => perCommand(part).median.toFixed(2)),
        percentText(
          spreadOf(rounds.map(({ passage }) => passage.generatorSeconds / passage.seconds)).median,
        ),
      ],
    ],
  };
}

function groupTable(groups: readonly ProfileGroup[]) {
  return {
    title:
      'Where the matcher spends its processor time (V8 profile of one round more, restore and warm-up left out)',
    head: ['group', 'share', 'seconds'],
    rows: groups.map(({ name, share, seconds }) => [name, percentText(share), rateText(seconds)]),
  };
}

function functionTable(functions: readonly ProfileGroup[]) {
  return {
    title: 'Top functions by self time',
    head: ['function', 'share'],
    rows: functions.map(({ name, share }) => [`\`${name}\``, percentText(share)]),
  };
}
