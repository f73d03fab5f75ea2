import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { findInstallation, noKeysIn } from '@pm/deploy/installation/addresses';
import { logPlaceOf } from '@pm/deploy/installation/open';
import { handOnCall, toolCall, toolUsage } from '@pm/deploy/installation/tool-call';
import { repositoryRoot } from '@pm/deploy/local/paths';
import { lockFolder } from '@pm/deploy/local/run-lock';
import { messageOf, StackError } from '@pm/deploy/local/stack-error';
import {
  loadOrMakeKeys,
  publicKeyOf,
  readAuthority,
  rotatedSeeds,
  saveKeys,
} from '@pm/deploy/setup/keys';
import { kafkaConnection } from '@pm/kit/config';
import { openLogClient } from '@pm/kit/kafka';
import { silentLog } from '@pm/kit/log';
import { Command } from 'commander';
import { InstallationKeys } from '../keys/key-log.ts';
import { addKey, type KeyFile, retireKeys, rotatedRole, rotateKey } from '../keys/rotation.ts';
import { loadOrMakeSeed } from '../keys/seed-file.ts';
import { ownKeys, shownKeys } from '../keys/shown-keys.ts';

/**
 * `npm run keys`: lists the keys of services, replaces and retires them, while the services run. Exit code 1 when a
 * change was refused or is not complete.
 */
const roles = Object.keys(rotatedSeeds).join(', ').toLowerCase();
const program = new Command(toolUsage('keys'))
  .description(
    'Keys of the running stack of a data folder, or of the installation that PM_KAFKA_BROKERS and the others name, with the keys.json of the folder.',
  )
  .option(
    '--data <folder>',
    'data folder with keys.json',
    process.env['PM_DATA'] ?? join(repositoryRoot, 'data'),
  );

program
  .command('list')
  .description(
    'lists every key with its role, its use by keys.json, and what orders and service-keys say',
  )
  .action(() =>
    withKeys(async (log, file) => {
      for (const line of shownKeys(await log.read(), ownKeys(file.load()))) console.log(line);
    }),
  );

program
  .command('rotate')
  .description(
    'lists a new key everywhere and puts its seed into keys.json; can be interrupted and repeated',
  )
  .requiredOption('--role <role>', roles)
  .action(({ role: name }: { role: string }) =>
    withKeys(async (log, file) => {
      const role = rotatedRole(name);
      const id = await rotateKey({ log, file, onStep }, role);
      const field = rotatedSeeds[role];
      console.log(`${id} is the ${role} key in use: its seed is the field ${field} of keys.json.`);
      if (handOnCall !== null) console.log(`Hand it on to the services: ${handOnCall}`);
      console.log(
        'Start each service that holds the former key again, process by process; a local',
      );
      const retire = toolCall('keys', 'retire', '--role', role.toLowerCase());
      console.log(`stack as a whole. Then: ${retire}`);
    }),
  );

program
  .command('add')
  .description('lists one more key of ingress, for a process beside those that run')
  .requiredOption('--seed-file <file>', 'its seed, made when there is none: PM_SIGNOFF_SEED')
  .action(({ seedFile }: { seedFile: string }) =>
    withKeys(async (log, file) => {
      const publicKey = Buffer.from(publicKeyOf(loadOrMakeSeed(seedFile)), 'hex');
      const id = await addKey({ log, file, onStep }, 'INGRESS', publicKey);
      console.log(`${id} is listed: PM_SIGNOFF_SEED of its process is the content of ${seedFile}`);
    }),
  );

program
  .command('retire')
  .description(
    'retires the former keys of a role, or one key: what they sign from then on is refused',
  )
  .option('--role <role>', roles)
  .option('--key <id>', 'id of a key, 16 hex digits')
  .action((given: { role?: string; key?: string }) =>
    withKeys(async (log, file) => {
      for (const id of await retireKeys({ log, file, onStep }, whichOf(given)))
        console.log(`${id} is retired`);
    }),
  );

function whichOf({ role, key }: { readonly role?: string; readonly key?: string }) {
  if (role !== undefined && key === undefined) return { role: rotatedRole(role) };
  if (key !== undefined && role === undefined) return { id: key.toLowerCase() };
  throw new StackError('BAD_DESCRIPTION', 'give either --role or --key');
}

function onStep(line: string): void {
  console.error(line);
}

async function withKeys(
  work: (log: InstallationKeys, file: KeyFile) => Promise<void>,
): Promise<void> {
  const { data } = program.opts<{ data: string }>();
  const path = join(data, 'keys.json');
  if (!existsSync(path)) throw noKeysIn(data);
  const file = {
    load: () => loadOrMakeKeys(path),
    save: (keys: Parameters<typeof saveKeys>[0]) => void saveKeys(keys, path),
  };
  const keys = file.load();
  const authority = readAuthority(keys, toolCall('keys'));
  const env = { ...process.env, PM_ROOT_KEY: keys.rootKey };
  const addresses = await findInstallation(env, data);
  const busy = () =>
    new StackError('DATA_FOLDER_LOCKED', `${toolCall('keys')} works on ${data} already`);
  const lock = await lockFolder({ folder: data, file: 'keys.lock', busy });
  const kafka = kafkaConnection(addresses);
  const client = openLogClient({ ...kafka, clientId: 'keys', log: silentLog });
  try {
    const log = await InstallationKeys.open(logPlaceOf(client, addresses), authority);
    await work(log, file).finally(() => log.close());
  } finally {
    await client.close();
    lock.release();
  }
}

try {
  await program.parseAsync();
  process.exit(0);
} catch (error) {
  console.error(messageOf(error));
  process.exit(1);
}
