import { mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import { readAuthority } from '@pm/deploy/setup/keys';
import { Sequences } from '@pm/domain/signoff/sequences';
import { startChild } from './child/child.ts';
import { startService } from './child/service.ts';
import { type OpenLog, openLog, ordersTopic } from './partition/log.ts';
import { matcherRules } from './partition/profile-rules.ts';
import { outcomeOf, type Passage, pass } from './partition/run.ts';
import { type Round, reportOf } from './partition/tables.ts';
import type { CopyJob, CopyResult } from './partition-copy.ts';
import type { GeneratorJob } from './partition-generator.ts';
import { readArguments } from './report/arguments.ts';
import { groupsOfProfile, monotonicMicroseconds } from './report/profile.ts';
import { publish } from './report/report.ts';
import { type Shape, shapes } from './stream/shape.ts';
import { type Installation, openInstallation } from './world/installation.ts';

/** `npm run bench:partition`: one partition from Kafka to Kafka, one matcher process, acks=all, beside a plain copy. */
const given = readArguments({
  commands: { default: 300_000, min: 5_000, max: 2_000_000 },
  rounds: { default: 3, min: 1, max: 10 },
  // For experiments: the young generation of the matcher, MiB; 0 keeps that of the stack.
  'semi-space': { default: 0, min: 0, max: 256 },
});
const commands = given.number('commands');
const rounds = given.number('rounds');
const perEnvelope = 512;
const semiSpace = given.number('semi-space');
const experiment = semiSpace === 0 ? [] : [`--max-semi-space-size=${semiSpace}`];
const copyTopic = 'bench-copy';
/** Ahead of the real clock, so that the ticks of the owner do not move it and envelopes can be signed ahead of time. */
const timeMs = Date.now() + 1_800_000;

const installation = await openInstallation();
const log = await openLog(installation.place, 'bench');
try {
  const measured = await measureRounds(installation, log);
  const profile = await measureProfile(installation, log);
  const outcomes = [];
  for (const { passage } of measured) outcomes.push(await outcomeOf(log, passage));
  publish(reportOf({ rounds: measured, outcomes, profile, perEnvelope }), given);
} finally {
  await log.client.close();
  await installation.stop();
}

function jobOf(round: number, part: GeneratorJob['part'], shape: Shape): GeneratorJob {
  const { ownerSeed, ingressSeed } = installation.keys;
  const { openingSeed } = readAuthority(installation.keys, 'the generator');
  return {
    ...installation.place,
    part,
    shape,
    firstId: round * 10_000_000,
    // After those of the set-up, and after the matcher's ticks.
    firstSequence: new Sequences().next(timeMs) + round * 1_000_000,
    timeMs,
    perEnvelope,
    seeds: { operator: openingSeed, owner: ownerSeed, ingress: ingressSeed },
  };
}

function shapeOf(round: number, count: number): Shape {
  return { ...shapes.small, seed: 100 + round, commands: count };
}

async function measureRounds(place: Installation, open: OpenLog): Promise<Round[]> {
  const matcher = await startService(place.service('matcher'), experiment);
  try {
    const run = (round: number, part: GeneratorJob['part'], count: number) =>
      pass(place, open, {
        job: jobOf(round, part, shapeOf(round, count)),
        matcherPid: matcher.pid,
      });
    await run(1, 'opening', 1);
    await run(2, 'stream', Math.ceil(commands / 4));
    const measured: Round[] = [];
    for (let round = 0; round < rounds; round += 1) {
      const passage = await run(3 + round, 'stream', commands);
      measured.push({ passage, copy: await copy(passage) });
    }
    return measured;
  } finally {
    await matcher.stop();
  }
}

/** Copies the input bytes of a passage with a plain kafkajs consumer and producer. */
async function copy({ from, to }: Passage): Promise<CopyResult> {
  await makeCopyTopic();
  const job: CopyJob = {
    brokers: installation.place.brokers,
    source: ordersTopic,
    target: copyTopic,
    from,
    to,
  };
  const child = startChild<CopyResult>('partition-copy', job);
  await child.ready;
  return await child.go();
}

async function makeCopyTopic(): Promise<void> {
  const admin = await log.client.admin();
  const counts = { partitions: 1, replicationFactor: 1, minInSyncReplicas: 1 };
  const limits = { compacted: false, maxMessageBytes: 16 << 20, retentionMs: -1 };
  await admin.ensureTopics([{ name: copyTopic, ...counts, ...limits }]);
  await admin.close();
}

/** One more passage under V8's profiler, by a new matcher process: it restores and warms up first. */
async function measureProfile(place: Installation, open: OpenLog) {
  const folder = mkdtempSync(join(place.dataDir, 'profile-'));
  const matcher = await startService(place.service('matcher'), [
    ...experiment,
    '--cpu-prof',
    `--cpu-prof-dir=${folder}`,
  ]);
  const window = { from: 0, to: 0 };
  try {
    const run = (round: number, count: number) =>
      pass(place, open, {
        job: jobOf(round, 'stream', shapeOf(round, count)),
        matcherPid: matcher.pid,
      });
    await run(3 + rounds, Math.ceil(commands / 4));
    window.from = monotonicMicroseconds();
    await run(4 + rounds, commands);
    window.to = monotonicMicroseconds();
  } finally {
    await matcher.stop();
  }
  return groupsOfProfile(folder, window, matcherRules);
}
