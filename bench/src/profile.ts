import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { repositoryRoot } from '@pm/deploy/local/paths';
import { leadSeconds, type OpenBench, openBench } from './load/open-bench.ts';
import { parseRates, rateName } from './load/rates.ts';
import { runStep } from './load/run-step.ts';
import { stepLine } from './load/tables.ts';
import { functionTimes, topFunctions } from './profile/function-times.ts';
import {
  beginProfile,
  endProfile,
  inspectorVariables,
  openInspector,
} from './profile/inspector.ts';
import { readArguments } from './report/arguments.ts';
import { percentText } from './report/numbers.ts';
import type { Profile } from './report/profile.ts';
import { publish, type Table } from './report/report.ts';

/**
 * `npm run bench:profile -- --process ingress --rate 300`: a CPU profile of one process of the stack, with its workers,
 * under the load of bench:load. Prints where the time goes and writes files for viewers of flame graphs. No other run
 * opens an inspector.
 */
const given = readArguments(
  {
    seconds: { default: 20, min: 2, max: 600 },
    sample: { default: 250, min: 50, max: 10_000 },
    fills: { default: 0, min: 0, max: 0.5 },
  },
  [],
  { process: 'ingress', rate: '300', out: join(repositoryRoot, '.cache/profiles') },
);
if (given.write === true) throw new RangeError('a profile is printed and not written');
const name = given.text('process');
const rates = parseRates(given.text('rate'));
const [rate = { perSecond: 0, batch: 1 }] = rates;
const rows = 40;

interface ThreadProfile {
  readonly thread: string;
  readonly file: string;
  readonly profile: Profile;
}

const counts = { markets: 32, wallets: 8, fills: given.number('fills') };
const bench = await openBench(counts, rates, {
  markets: 0,
  traders: 0,
  env: { process: name, variables: inspectorVariables },
});
try {
  const seconds = given.number('seconds');
  let profiles: readonly ThreadProfile[] = [];
  const step = await runStep(bench, bench.shape(rate, seconds), 'everything', async () => {
    profiles = await takeProfiles(bench, seconds);
  });
  console.error(stepLine(step));
  publish(
    {
      name: 'profile',
      title: `CPU profile of ${name} at ${rateName(rate)}`,
      conditions: [
        `${seconds} s, one sample each ${given.number('sample')} microseconds, after ${leadSeconds} s of the same load; ${stepLine(step)}.`,
        ...profiles.map(({ thread, file }) => `${thread}: ${file}`),
      ],
      tables: profiles.flatMap(tablesOf),
      notes: [
        'Native code shows at the function that called it. Other threads of the runtime (garbage collector, compiler) are in no profile.',
      ],
      figures: profiles.map(({ thread, profile }) => ({ thread, ...functionTimes(profile) })),
    },
    given,
  );
} finally {
  await bench.end();
}

/** One profile of each thread, taken at the same time. */
async function takeProfiles({ stack }: OpenBench, seconds: number): Promise<ThreadProfile[]> {
  const found = stack.supervisor.status().find((one) => one.name === name);
  if (found?.pid === undefined) throw new RangeError(`the stack has no process ${name}`);
  const inspector = await openInspector(found.pid, join(stack.logDir, `${name}.log`));
  try {
    const { threads } = inspector;
    await Promise.all(threads.map((one) => beginProfile(one, given.number('sample'))));
    await sleep(seconds * 1_000);
    return await Promise.all(
      threads.map(async (one) => {
        const profile = await endProfile(one);
        return { thread: one.name, profile, file: writeProfile(one.name, profile) };
      }),
    );
  } finally {
    inspector.close();
  }
}

function writeProfile(thread: string, profile: Profile): string {
  const label = `${name}-${rate.perSecond}x${rate.batch}-${thread.replaceAll(' ', '-')}`;
  const file = resolve(given.text('out'), `${label}.cpuprofile`);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, JSON.stringify(profile));
  return file;
}

function tablesOf({ thread, profile }: ThreadProfile): readonly Table[] {
  const times = functionTimes(profile);
  const share = percentText(times.busyMs / times.allMs);
  return (['selfMs', 'inclusiveMs'] as const).map((by) => ({
    title: `${thread}, by ${by === 'selfMs' ? 'own time' : 'inclusive time'}: ${share} busy`,
    head: ['function', 'own ms', 'share of busy', 'inclusive ms', 'share of busy'],
    rows: topFunctions(times, by, rows).map(({ name: of, selfMs, inclusiveMs }) => [
      of,
      selfMs.toFixed(0),
      percentText(selfMs / times.busyMs),
      inclusiveMs.toFixed(0),
      percentText(inclusiveMs / times.busyMs),
    ]),
  }));
}
