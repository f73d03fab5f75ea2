import { join } from 'node:path';
import { toolUsage } from '@pm/deploy/installation/tool-call';
import { repositoryRoot } from '@pm/deploy/local/paths';
import { messageOf } from '@pm/deploy/local/stack-error';
import { Command } from 'commander';
import { openPlaces } from '../backup/places.ts';
import { runBackup } from '../backup/run-backup.ts';

/** `npm run backup`: copies what is not in Kafka into a store. Exit code 0 when the backup is complete. */
const given = new Command(toolUsage('backup'))
  .description(
    'Copies keys.json and operators.json, encrypted by the passphrase in PM_BACKUP_PASSPHRASE_FILE, with the newest snapshots and checkpoints, into a store; the exchange may run.',
  )
  .option(
    '--data <folder>',
    'data folder with keys.json',
    process.env['PM_DATA'] ?? join(repositoryRoot, 'data'),
  )
  .option('--to <store>', 's3://bucket/prefix or a folder; the store of the services unless given')
  .parse()
  .opts<{ data: string; to?: string }>();

let code = 1;
try {
  const { services, backups, passphrase } = await openPlaces(process.env, given.data, given.to);
  const id = await runBackup({
    dataDir: given.data,
    source: services,
    target: backups,
    passphrase,
    now: new Date(),
    onStep: (line) => console.error(line),
  });
  console.log(`backup ${id} is complete`);
  code = 0;
} catch (error) {
  console.error(messageOf(error));
}
process.exit(code);
