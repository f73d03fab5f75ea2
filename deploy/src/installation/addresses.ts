import { join } from 'node:path';
import { type ConfigOf, readConfig, rootKeyFields } from '@pm/kit/config';
import { localWriter, readClickhousePassword } from '../local/engines/clickhouse-password.ts';
import type { EngineAccess } from '../local/engines.ts';
import { StackError } from '../local/stack-error.ts';
import { loadOrMakeKeys } from '../setup/keys.ts';
import { stackStatus } from '../stack/control.ts';
import { type Addresses, addressesOf, type Environment, readAddresses } from './read-addresses.ts';
import { isInImage } from './tool-call.ts';

/** Addresses of an installation, and the key that lists its service keys. */
export type InstallationAddresses = Addresses & ConfigOf<typeof rootKeyFields>;

function addressesIn(env: Environment): InstallationAddresses {
  const known = Object.keys(env);
  return { ...readAddresses(env), ...readConfig(rootKeyFields, env, { known }) };
}

/**
 * The installation that the variables of the services name (`PM_KAFKA_BROKERS`, `PM_REGISTRY_URL`, `PM_CLICKHOUSE_URL`,
 * `PM_REDIS_URL` ...), else the stack that runs on a data folder. Throws a `StackError` when there is neither.
 */
export async function findInstallation(
  env: Environment,
  dataDir: string,
): Promise<InstallationAddresses> {
  if ((env['PM_KAFKA_BROKERS'] ?? '') !== '') return addressesIn(env);
  const running = await stackStatus(dataDir, 'withAccounts');
  if (running === null) {
    throw new StackError('BAD_DESCRIPTION', isInImage ? noAddresses : noStackOn(dataDir));
  }
  const local = running.engines === 'external' ? {} : localAccess(dataDir);
  const rootKey = loadOrMakeKeys(join(dataDir, 'keys.json')).rootKey;
  return { ...addressesOf(running.urls, { ...env, ...local }), ...running.names, rootKey };
}

const noAddresses =
  'PM_KAFKA_BROKERS is not set: give this container PM_ROOT_KEY and the addresses, names and accounts of the engines, ' +
  'as the services have them (docs/operating/containers.md)';

function noStackOn(dataDir: string): string {
  const how =
    'start one (npm run stack -- up), name its --data, or set PM_KAFKA_BROKERS and the others';
  return `no stack runs on ${dataDir}: ${how}`;
}

/** The refusal of a data folder without `keys.json`. */
export function noKeysIn(dataDir: string): StackError {
  const how = isInImage
    ? 'mount the folder that has it, and name it (PM_DATA or --data)'
    : '--data';
  return new StackError('BAD_DESCRIPTION', `there is no ${join(dataDir, 'keys.json')}: ${how}`);
}

/** User and password that the engines of a data folder require of clients; empty when it has no password. */
function localAccess(dataDir: string): EngineAccess {
  const password = readClickhousePassword(dataDir, 'writers');
  if (password === null) return {};
  return { PM_CLICKHOUSE_USER: localWriter, PM_CLICKHOUSE_PASSWORD: password };
}
