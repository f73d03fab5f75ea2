import { createHash, randomBytes } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { replaceFile } from '../local/replace-file.ts';
import type { ExchangeKeys } from '../setup/keys.ts';
import { serviceSecrets } from '../setup/service-secrets.ts';

/**
 * Folders of the set-up container. Each folder below `secrets` is a volume of its own that one container gets, at
 * /run/exchange.
 */
export interface SecretPlaces {
  /** keys.json, operators.json and the passwords of engines: the identity of the installation. */
  readonly installation: string;
  readonly secrets: string;
}

type ClickhouseAccount = 'pm_setup' | 'pm_writer' | 'pm_reader';

/** Accounts of ClickHouse and what each may do; set-up makes the tables and is its administrator. */
function clickhouseAccounts(database: string): Record<ClickhouseAccount, readonly string[]> {
  return {
    pm_setup: [],
    pm_writer: [
      `GRANT SELECT, INSERT, ALTER DELETE, OPTIMIZE ON ${database}.*`,
      'GRANT SELECT ON system.parts',
      'GRANT SELECT ON system.tables',
    ],
    pm_reader: [`GRANT SELECT ON ${database}.*`, 'GRANT SELECT ON system.tables'],
  };
}

/** The account of each container that uses ClickHouse. */
const clickhouseUsers = {
  setup: 'pm_setup',
  projectors: 'pm_writer',
  'query-api': 'pm_reader',
} as const satisfies Readonly<Record<string, ClickhouseAccount>>;

const redisUsers = ['setup', 'ingress', 'operator', 'projectors', 'query-api'] as const;

/** Passwords of the engines, by account. */
interface EnginePasswords {
  readonly redis: string;
  readonly grafana: string;
  readonly clickhouse: Readonly<Record<ClickhouseAccount, string>>;
}

const passwordBytes = 32;
/** Rights of what a container reads and never writes. */
const readOnly = 0o400;
/** Engines run as users of their own; their volume is in their container only. */
const anyUser = 0o444;

/**
 * Writes the passwords of the engines, where each of them and each service finds its own; made once. The accounts of
 * ClickHouse have rights in `database`.
 */
export function writeEngineSecrets(places: SecretPlaces, database: string): void {
  const passwords = enginePasswords(join(places.installation, 'engine-passwords.json'));
  const put = (folder: string, name: string, text: string, mode: number) =>
    replaceFile(join(places.secrets, folder, name), text, mode);
  put('redis', 'redis.conf', `requirepass ${passwords.redis}\n`, anyUser);
  put('clickhouse', 'exchange.xml', usersXml(passwords.clickhouse, database), anyUser);
  put('grafana', 'grafana.password', passwords.grafana, anyUser);
  for (const user of redisUsers) put(user, 'redis.password', `${passwords.redis}\n`, readOnly);
  for (const [user, account] of Object.entries(clickhouseUsers))
    put(user, 'clickhouse.password', `${passwords.clickhouse[account]}\n`, readOnly);
}

/**
 * Writes the variables that follow from the keys, for each service its own and for the tools, which have the accounts
 * of set-up; repeated after a rotation.
 */
export function writeServiceSecrets(places: SecretPlaces, keys: ExchangeKeys): void {
  const operators = readFileSync(join(places.installation, 'operators.json'), 'utf8');
  const put = (folder: string, name: string, text: string) =>
    replaceFile(join(places.secrets, folder, name), text, readOnly);
  for (const [service, variables] of Object.entries(serviceSecrets(keys)))
    put(service, 'secrets.env', linesOf(variables));
  put('operator', 'operators.json', operators);
  put('setup', 'secrets.env', linesOf({ PM_ROOT_KEY: keys.rootKey }));
  put('demo', 'secrets.env', linesOf({ PM_OPERATOR_TOKEN: keys.operatorToken }));
}

function linesOf(variables: Readonly<Record<string, string>>): string {
  return Object.entries(variables)
    .map(([name, value]) => `${name}=${value}\n`)
    .join('');
}

function enginePasswords(file: string): EnginePasswords {
  if (existsSync(file)) return JSON.parse(readFileSync(file, 'utf8')) as EnginePasswords;
  const password = () => randomBytes(passwordBytes).toString('base64url');
  const passwords: EnginePasswords = {
    redis: password(),
    grafana: password(),
    clickhouse: { pm_setup: password(), pm_writer: password(), pm_reader: password() },
  };
  replaceFile(file, `${JSON.stringify(passwords, null, 2)}\n`);
  return passwords;
}

/** Users of ClickHouse with hashes of their passwords, in place of the one without a password. */
function usersXml(passwords: EnginePasswords['clickhouse'], database: string): string {
  const users = Object.entries(clickhouseAccounts(database)).map(([name, grants]) => {
    const hash = createHash('sha256')
      .update(passwords[name as ClickhouseAccount])
      .digest('hex');
    const queries = grants.map((grant) => `<query>${grant}</query>`).join('');
    const rights =
      grants.length === 0
        ? '<access_management>1</access_management>'
        : `<grants>${queries}</grants>`;
    return (
      `<${name}><password_sha256_hex>${hash}</password_sha256_hex><networks><ip>::/0</ip></networks>` +
      `<profile>default</profile><quota>default</quota>${rights}</${name}>`
    );
  });
  const own = ['<default remove="remove"/>', ...users].join('\n    ');
  return `<clickhouse>\n  <users>\n    ${own}\n  </users>\n</clickhouse>\n`;
}
