import { join } from 'node:path';
import { findInstallation } from '@pm/deploy/installation/addresses';
import { type Installation, openInstallation } from '@pm/deploy/installation/open';
import { toolUsage } from '@pm/deploy/installation/tool-call';
import { repositoryRoot } from '@pm/deploy/local/paths';
import { messageOf } from '@pm/deploy/local/stack-error';
import { Command, InvalidArgumentError, Option } from 'commander';
import { haltedSecondsMax, restWaitMs } from '../rebuild/hold.ts';
import { comparisonLine, progressBar } from '../rebuild/output.ts';
import { runRebuild } from '../rebuild/run-rebuild.ts';

/**
 * `npm run rebuild`: folds the tables again from the log, compares them with the served ones and exchanges them. Exit
 * code 1: it failed, or `--compare-only` found a difference; 130: it was interrupted.
 */
const given = new Command(toolUsage('rebuild'))
  .description(
    'Folds all tables again from the log beside the served ones, compares both, and exchanges them. Works under traffic, on the running stack of a data folder or on the installation that PM_KAFKA_BROKERS and the others name. After an interruption the next run resumes.',
  )
  .option(
    '--data <folder>',
    'data folder of the running stack',
    process.env['PM_DATA'] ?? join(repositoryRoot, 'data'),
  )
  .option('--compare-only', 'compare only: exchange nothing and leave no copy')
  .option('--fresh', 'drop the tables of an earlier run and fold from the first record')
  .addOption(
    new Option(
      '--halted [seconds]',
      'go on although halted projectors leave a batch open for so long',
    )
      .preset(String(restWaitMs / 1_000))
      .argParser(secondsOf),
  )
  .parse()
  .opts<{ data: string; compareOnly?: boolean; fresh?: boolean; halted?: number }>();

function secondsOf(text: string): number {
  const seconds = Number(text);
  if (Number.isInteger(seconds) && seconds >= 1 && seconds <= haltedSecondsMax) return seconds;
  throw new InvalidArgumentError(`a whole number from 1 to ${haltedSecondsMax} is needed`);
}

let installation: Installation | null = null;
let code = 1;
const bar = progressBar(process.stderr);
const broken = new AbortController();
/** A second signal ends the process at once; the hold then expires within a minute. */
for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.once(signal, () => {
    bar.step('breaking off');
    broken.abort();
  });
try {
  installation = openInstallation(await findInstallation(process.env, given.data), 'rebuild');
  const { differing, isExchanged } = await runRebuild(installation, {
    compareOnly: given.compareOnly ?? false,
    fresh: given.fresh ?? false,
    haltedMs: given.halted === undefined ? null : given.halted * 1_000,
    signal: broken.signal,
    onProgress: bar.show,
    onStep: bar.step,
    onComparison: (comparison) => console.log(comparisonLine(comparison)),
  });
  if (differing === null)
    console.log('not compared: the served tables are older than the rebuilt ones');
  else console.log(differing === 0 ? 'every table equals the log' : `${differing} differ`);
  if (isExchanged) console.log('the rebuilt tables are served');
  code = isExchanged || differing === 0 ? 0 : 1;
} catch (error) {
  if (broken.signal.aborted) {
    bar.step('interrupted; the served tables are right. Run it again: it resumes');
    code = 130;
  } else {
    bar.step('not finished');
    console.error(messageOf(error));
  }
} finally {
  await installation?.close();
}
process.exit(code);
