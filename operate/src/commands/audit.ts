import { randomInt } from 'node:crypto';
import { join } from 'node:path';
import { findInstallation } from '@pm/deploy/installation/addresses';
import { type Installation, openInstallation } from '@pm/deploy/installation/open';
import { toolUsage } from '@pm/deploy/installation/tool-call';
import { repositoryRoot } from '@pm/deploy/local/paths';
import { messageOf } from '@pm/deploy/local/stack-error';
import { Command } from 'commander';
import { type AuditCheck, runAudit } from '../audit/run-audit.ts';

/** Seeds below this print short. */
const seedEnd = 1_000_000;

/** `npm run audit`: compares an installation with its log. One line per check; exit code 0 when all hold, else 1. */
const given = new Command(toolUsage('audit'))
  .description(
    'Audits the running stack of a data folder, or the installation that PM_KAFKA_BROKERS, PM_REGISTRY_URL, PM_CLICKHOUSE_URL and PM_REDIS_URL name.',
  )
  .option(
    '--data <folder>',
    'data folder of the running stack',
    process.env['PM_DATA'] ?? join(repositoryRoot, 'data'),
  )
  .option('--wait <seconds>', 'time for projections to reach the end of the log', Number, 60)
  .option(
    '--seed <number>',
    'chooses the wallets of the ledger query; random by default',
    Number,
    randomInt(seedEnd),
  )
  .parse()
  .opts<{ data: string; wait: number; seed: number }>();

/** Lines shown of one check. */
const shownMax = 5;
const progressEvery = 20_000;

function show({ name, wrong, facts, notes = [] }: AuditCheck): void {
  console.log(`${wrong.length === 0 ? 'ok    ' : 'BROKEN'}  ${name.padEnd(34)} ${facts}`);
  for (const text of wrong.slice(0, shownMax)) console.log(`        ${text}`);
  for (const text of notes) console.log(`        ${text}`);
  if (wrong.length > shownMax) console.log(`        and ${wrong.length - shownMax} more`);
}

let installation: Installation | null = null;
let holds = false;
try {
  installation = openInstallation(await findInstallation(process.env, given.data), 'audit');
  holds = await runAudit(installation, {
    waitMs: given.wait * 1_000,
    seed: given.seed,
    onProgress(done, records) {
      if (done % progressEvery === 0 || done === records)
        console.error(`log: ${done} of ${records} records`);
    },
    onCheck: show,
  });
  console.log(holds ? 'everything adds up' : 'something does not add up');
} catch (error) {
  console.error(messageOf(error));
} finally {
  await installation?.close();
}
process.exit(holds ? 0 : 1);
