import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { defaultFeeWallet } from '@pm/domain/accounts/reserved-addresses';
import { parseWalletAddress, type WalletAddress } from '@pm/schemas/ids';
import { Command } from 'commander';
import { installationKeys } from '../installation/identity.ts';
import { readAddresses, readNames } from '../installation/read-addresses.ts';
import { messageOf, StackError } from '../local/stack-error.ts';
import { openingsAt, setUpExchange } from '../setup/exchange-setup.ts';
import { type ExchangeKeys, readKeys } from '../setup/keys.ts';
import { makeFirstOperator } from '../setup/operators.ts';
import { partitionsOf } from '../setup/partition-count.ts';
import { openOperator } from '../stack/operator.ts';
import { seedCatalog, seedWallets } from '../stack/seeding.ts';
import { type SecretPlaces, writeEngineSecrets, writeServiceSecrets } from './secrets.ts';

/**
 * Set-up in containers (docs/operating/containers.md): `engines` before the engines start, `exchange` before the
 * services start, `demo` after them. Each can be repeated and changes nothing that is there.
 */
interface ExchangeArguments {
  /** Absent unless `--partitions` is given. */
  readonly partitions?: string;
  readonly replication: number;
}

/** Engines may need so long until they answer, milliseconds. */
const enginesMaxMs = 180_000;
const retryMs = 2_000;

const places: SecretPlaces = {
  installation: '/var/lib/exchange/installation',
  secrets: '/var/lib/exchange/secrets',
};
const keysFile = join(places.installation, 'keys.json');
const program = new Command('setup');
program.command('engines').description('makes the passwords of the engines').action(setUpEngines);
program
  .command('exchange')
  .description('makes keys, topics, schemas and tables')
  .option('--partitions <count>', 'partitions of the log: those that are missing are added')
  .option('--replication <copies>', 'copies of each topic', Number, 3)
  .action(setUp);
program
  .command('demo')
  .description('lists the demo markets and funds the test wallets')
  .requiredOption('--operator-url <url>', "the operator's listener")
  .requiredOption('--base-url <url>', 'base URL of the exchange, as browsers reach it')
  .action(setUpDemo);
program.command('token').description("prints the first operator's token").action(printToken);

try {
  await program.parseAsync();
} catch (error) {
  console.error(error instanceof StackError ? error.message : messageOf(error));
  process.exit(1);
}
process.exit(0);

function setUpEngines(): void {
  mkdirSync(places.installation, { recursive: true });
  const { clickhouseDatabase } = readNames(process.env);
  writeEngineSecrets(places, clickhouseDatabase);
  console.log('passwords of the engines: there');
}

async function setUp({ partitions: given, replication }: ExchangeArguments): Promise<void> {
  const partitions = partitionsOf(given, process.env);
  const engines = enginesOf(process.env);
  const keys = await installationKeys(keysFile, () => patiently(() => openingsAt(engines)));
  makeFirstOperator(places.installation, keys);
  await patiently(() => openingsAt(engines));
  await setUpExchange({
    ...engines,
    keys,
    feeWallet: feeWallet(),
    partitions,
    replicationFactor: replication,
    hasStore: true,
    progress: (line) => console.log(line),
  });
  writeServiceSecrets(places, keys);
  console.log('secrets of the services: written');
}

/** Addresses of the engines, and what they ask of who connects. */
function enginesOf(env: Readonly<Record<string, string | undefined>>) {
  const { kafkaBrokers, registryUrl, clickhouseUrl, redisUrl } = readAddresses(env);
  return {
    urls: {
      kafka: kafkaBrokers.join(),
      registry: registryUrl,
      clickhouse: clickhouseUrl,
      redis: redisUrl,
    },
    access: Object.fromEntries(
      Object.entries(env).flatMap(([name, value]) =>
        name.startsWith('PM_') && value !== undefined ? [[name, value] as const] : [],
      ),
    ),
  };
}

function feeWallet(): WalletAddress {
  const wallet = parseWalletAddress(process.env['PM_FEE_WALLET'] || defaultFeeWallet);
  if (wallet !== null) return wallet;
  throw new StackError('BAD_DESCRIPTION', 'PM_FEE_WALLET is not 0x and 40 hex digits');
}

/** Tries again while engines start: a container that is up may not answer yet. */
async function patiently<T>(work: () => Promise<T>): Promise<T> {
  const deadlineMs = performance.now() + enginesMaxMs;
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (error instanceof StackError || performance.now() > deadlineMs) throw error;
      console.log(`waits for engines: ${messageOf(error)}`);
      await sleep(retryMs);
    }
  }
}

async function setUpDemo(given: { operatorUrl: string; baseUrl: string }): Promise<void> {
  const operator = openOperator(given.operatorUrl, storedKeys().operatorToken);
  const progress = (line: string) => console.log(line);
  const marketsFile = join(places.secrets, 'demo', 'markets.json');
  await seedCatalog(operator, { marketsFile, baseUrl: given.baseUrl }, progress);
  await seedWallets(operator, progress);
}

function printToken(): void {
  console.log(storedKeys().operatorToken);
}

function storedKeys(): ExchangeKeys {
  const keys = readKeys(keysFile);
  if (keys !== null) return keys;
  throw new StackError('BAD_DESCRIPTION', 'there are no keys yet: run `setup exchange` first');
}
