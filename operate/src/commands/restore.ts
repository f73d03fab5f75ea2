import { join } from 'node:path';
import { toolCall, toolUsage } from '@pm/deploy/installation/tool-call';
import { repositoryRoot } from '@pm/deploy/local/paths';
import { messageOf } from '@pm/deploy/local/stack-error';
import { Command } from 'commander';
import { openPlaces } from '../backup/places.ts';
import { backupIds, runRestore } from '../backup/run-restore.ts';

/** `npm run restore`: brings a backup into an empty data folder and a store. Exit code 0 when all of it is there. */
const given = new Command(toolUsage('restore'))
  .description(
    'Brings back a backup: snapshots and checkpoints into the store of the services, keys.json and operators.json into the data folder, which must have no other keys. It may be repeated.',
  )
  .option(
    '--data <folder>',
    'data folder of the installation',
    process.env['PM_DATA'] ?? join(repositoryRoot, 'data'),
  )
  .option(
    '--from <store>',
    's3://bucket/prefix or a folder; the store of the services unless given',
  )
  .option('--id <id>', 'which backup; the newest unless given')
  .option('--list', 'only lists the complete backups')
  .parse()
  .opts<{ data: string; from?: string; id?: string; list?: true }>();

let code = 1;
try {
  const { services, backups, passphrase } = await openPlaces(process.env, given.data, given.from);
  if (given.list === true) for (const id of await backupIds(backups)) console.log(id);
  else {
    await runRestore({
      dataDir: given.data,
      source: backups,
      target: services,
      passphrase,
      id: given.id ?? null,
      onStep: (line) => console.error(line),
    });
    console.log(`restored: start the services, then ${toolCall('audit')}`);
  }
  code = 0;
} catch (error) {
  console.error(messageOf(error));
}
process.exit(code);
