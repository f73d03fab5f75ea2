import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { StackError } from '@pm/deploy/local/stack-error';
import { storeFolderIn } from '@pm/deploy/stack/services';
import { backupFields, readConfig, storeConnection, storeFields } from '@pm/kit/config';
import { type ObjectStore, openObjectStore } from '@pm/kit/objects';

type Environment = Readonly<Record<string, string | undefined>>;

/** Stores of a backup or restore, and the passphrase of its bundle. */
export interface BackupPlaces {
  /** The store of the services: that of the environment, else that of a local stack on the data folder. */
  readonly services: ObjectStore;
  /** The store of the backups. */
  readonly backups: ObjectStore;
  readonly passphrase: string;
}

/**
 * Opens both; `backupsUrl` is a URL as in `PM_STORE_URL`, or a folder, and takes the account of the same environment.
 * Throws a `StackError` without a passphrase, and the `Fault` `invalid_config` (stop).
 */
export async function openPlaces(
  env: Environment,
  dataDir: string,
  backupsUrl: string | undefined,
): Promise<BackupPlaces> {
  const local = pathToFileURL(storeFolderIn(resolve(dataDir))).href;
  const servicesUrl = env['PM_STORE_URL'] || local;
  const { backupPassphrase: passphrase } = readConfig(backupFields, env, knownIn(env));
  if (passphrase === '')
    throw new StackError('BAD_DESCRIPTION', 'PM_BACKUP_PASSPHRASE_FILE is not set');
  if (backupsUrl === undefined && servicesUrl === local)
    throw new StackError(
      'BAD_DESCRIPTION',
      'the store of this stack is in its data folder, and would be lost with it: name another place (--to, --from)',
    );
  const services = await openStore(env, servicesUrl);
  const backups = backupsUrl === undefined ? services : await openStore(env, urlOf(backupsUrl));
  return { services, backups, passphrase };
}

async function openStore(env: Environment, url: string): Promise<ObjectStore> {
  const given = url.startsWith('s3://') ? env : withoutAccount(env);
  const place = storeConnection(
    readConfig(storeFields, { ...given, PM_STORE_URL: url }, knownIn(env)),
  );
  if (place === null) throw new StackError('BAD_DESCRIPTION', 'there is no store');
  return await openObjectStore(place);
}

const knownIn = (env: Environment) => ({ known: Object.keys(env) });

const urlOf = (text: string): string =>
  /^(s3|file):\/\//.test(text) ? text : pathToFileURL(resolve(text)).href;

/** A folder asks for no account, though the store of the services may. */
function withoutAccount(env: Environment): Environment {
  const names = Object.values(storeFields).map(({ name }) => name);
  return Object.fromEntries(Object.entries(env).filter(([name]) => !names.includes(name)));
}
