import { join } from 'node:path';
import { findInstallation } from '@pm/deploy/installation/addresses';
import { type Installation, openInstallation } from '@pm/deploy/installation/open';
import { repositoryRoot } from '@pm/deploy/local/paths';
import { messageOf } from '@pm/deploy/local/stack-error';
import { Command } from 'commander';
import { comparisonLine, progressBar } from '../rebuild/output.ts';
import { runRebuild } from '../rebuild/run-rebuild.ts';

/**
 * `npm run rebuild`: folds the tables anew from the log, compares them with the served ones, and exchanges them. Exit code 1: it
 * did not come to its end, or `--compare-only` found a difference; 130: it was broken off.
 */
const given = new Command('npm run rebuild --')
  .description(
    'Folds all tables anew from the log beside the served ones, compares both, and exchanges them. Works while traffic flows, on the running stack of a data folder or on what PM_KAFKA_BROKERS and the others name. Broken off, it goes on where it was.',
  )
  .option(
    '--data <folder>',
    'data folder of the running stack',
    process.env['PM_DATA'] ?? join(repositoryRoot, 'data'),
  )
  .option('--compare-only', 'compare, exchange nothing, and leave no copy')
  .option('--fresh', 'leave what an earlier run has folded, and begin with the first record')
  .option('--halted', 'go on although projectors do not end a batch, because they cannot')
  .parse()
  .opts<{ data: string; compareOnly?: boolean; fresh?: boolean; halted?: boolean }>();

let installation: Installation | null = null;
let code = 1;
const bar = progressBar(process.stderr);
const broken = new AbortController();
/** A second signal ends the process where it is: then the hold ends by itself, within a minute. */
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
    goesOnHalted: given.halted ?? false,
    signal: broken.signal,
    onProgress: bar.show,
    onStep: bar.step,
    onComparison: (comparison) => console.log(comparisonLine(comparison)),
  });
  if (differing === null)
    console.log('not compared: the served tables are behind the rebuilt ones');
  else console.log(differing === 0 ? 'every table is what the log says' : `${differing} differ`);
  if (isExchanged) console.log('the rebuilt tables are served');
  code = isExchanged || differing === 0 ? 0 : 1;
} catch (error) {
  if (broken.signal.aborted) {
    bar.step('broken off; what is served is right. Run it again: it goes on where it was');
    code = 130;
  } else {
    bar.step('not finished');
    console.error(messageOf(error));
  }
} finally {
  await installation?.close();
}
process.exit(code);
