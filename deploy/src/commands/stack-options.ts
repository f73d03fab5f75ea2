import { join } from 'node:path';
import { defaultFeeWallet } from '@pm/domain/accounts/reserved-addresses';
import { signingFields } from '@pm/domain/accounts/signing-fields.io';
import { replicationMinField, secondPersonFields } from '@pm/kit/config';
import { parseWalletAddress, type WalletAddress } from '@pm/schemas/ids';
import type { Command } from 'commander';
import { type BrokerCount, brokerCounts } from '../local/engines/kafka-broker.ts';
import type { Progress } from '../local/managed-process.ts';
import { repositoryRoot } from '../local/paths.ts';
import { type Ports, portsFromEnvironment } from '../local/ports.ts';
import { StackError } from '../local/stack-error.ts';
import { firstPartitions, partitionsOf } from '../setup/partition-count.ts';
import { heapsOf } from '../stack/heaps.ts';
import { machineMemoryBytes } from '../stack/machine-memory.ts';
import { engineMode } from '../stack/mode.ts';
import { parseScale, type Scale } from '../stack/scale.ts';
import type { SigningChoice } from '../stack/services.ts';
import type { StackOptions } from '../stack/stack.ts';

const { name: familyVariable } = signingFields.familyDomains;
const { name: domainVariable } = signingFields.signingDomain;

/** Options of a set-up on the command line. */
export interface SetupArguments {
  readonly data: string;
  /** Absent unless `--replication` is given. */
  readonly replication?: number;
  /** Absent unless `--partitions` is given. */
  readonly partitions?: string;
  readonly feeWallet: string;
}

/** Options of a stack on the command line. */
export interface StackArguments extends SetupArguments {
  readonly port?: string;
  readonly brokers: number;
  /** Absent unless `--scale` is given. */
  readonly scale?: string;
  readonly fresh?: boolean;
  /** Only `npm start` has it. */
  readonly setupOnly?: boolean;
  readonly standby?: boolean;
  /** Absent unless one of `--demo` and `--no-demo` is given. */
  readonly demo?: boolean;
  readonly quoteSpeed: number;
  readonly tradeSpeed: number;
}

/** Adds the options by which topics, partitions and keys are set up. */
export function withSetupArguments(command: Command): Command {
  return command
    .option(
      '--data <folder>',
      'where everything is kept',
      process.env['PM_DATA'] ?? join(repositoryRoot, 'data'),
    )
    .option(
      '--replication <copies>',
      'copies of each topic: 1 on one local broker, 3 on three and on engines of your own',
      Number,
    )
    .option(
      '--partitions <count>',
      'partitions of the log: set-up adds those that are missing (also PM_PARTITIONS; a new log has 8, with STACK=external 64)',
    )
    .option(
      '--fee-wallet <address>',
      'wallet that receives the fees; it can never change; the operator withdraws from it',
      process.env['PM_FEE_WALLET'] || defaultFeeWallet,
    );
}

/** Adds the options that `npm start` and `npm run stack -- up` share. */
export function withStackArguments(command: Command): Command {
  return withSetupArguments(command)
    .option('--port <port>', 'port of the base URL (others: PM_PORT_KAFKA, PM_PORT_REDIS ...)')
    .option(
      '--brokers <count>',
      'local Kafka brokers, 1 or 3: of three, one may be lost; final for a data folder',
      Number,
      1,
    )
    .option(
      '--scale <processes>',
      'several processes of services side by side, such as ingress=2,streams=3 (1 to 3 of each)',
    )
    .option(
      '--standby',
      'a second matcher, as --scale matcher=2 starts it: each partition has an owner and a standby',
    )
    .option('--fresh', 'start from scratch: removes the contents of the data folder first')
    .option(
      '--demo',
      'demo markets, funded test wallets and recorded trading; the default except with STACK=external',
    )
    .option(
      '--no-demo',
      'no trading; with local engines the demo markets and funded test wallets are kept',
    )
    .option('--quote-speed <factor>', 'recorded quotes, 1 is real time', Number, 2)
    .option('--trade-speed <factor>', 'recorded trades, 1 is real time', Number, 20);
}

/**
 * Options of `startStack`. Engines of another installation get topics, schemas and tables only, unless `--demo` is
 * given: demo markets and money of wallets with public keys do not belong there.
 */
export function stackOptions(
  given: StackArguments,
  progress: Progress,
  env: Readonly<Record<string, string | undefined>> = process.env,
): StackOptions {
  const { quoteSpeed, tradeSpeed } = given;
  const mode = engineMode(env);
  const isLocal = mode.kind !== 'external';
  refuseSetUpOf(given, isLocal);
  const seed = isLocal || given.demo === true;
  const scale = scaleOf(given);
  return {
    mode,
    dataDir: given.data,
    ports: portsOf(given, env),
    scale,
    heaps: heapsOf({ env, memoryBytes: machineMemoryBytes(), processes: scale }),
    goesOn: true,
    progress,
    ...brokersIn(given, isLocal),
    ...replicationOf(given, isLocal, env),
    partitions: partitionsOf(given.partitions, env),
    partitionsOfNew: isLocal ? firstPartitions.local : firstPartitions.external,
    feeWallet: feeWalletOf(given),
    fresh: given.fresh ?? false,
    signing: signingOf(seed, env),
    seed,
    demo: (given.demo ?? isLocal) ? { quoteSpeed, tradeSpeed } : null,
    extraEnv: { operator: secondPersonOf(seed, env) },
  };
}

/** The part of `stackOptions` for a set-up on engines of another installation, whether `STACK` says so or not. */
export function externalSetupOptions(
  given: SetupArguments,
  env: Readonly<Record<string, string | undefined>>,
): Pick<StackOptions, 'mode' | 'dataDir' | 'replicationFactor' | 'partitions' | 'feeWallet'> {
  const mode = engineMode({ ...env, STACK: 'external' });
  const { replicationFactor } = replicationOf({ ...given, brokers: 1 }, false, env);
  return {
    mode,
    dataDir: given.data,
    replicationFactor,
    partitions: partitionsOf(given.partitions, env) ?? firstPartitions.external,
    feeWallet: feeWalletOf(given),
  };
}

/** Only engines that stay have something to set up for later, and a demo needs services. */
function refuseSetUpOf({ setupOnly, demo }: StackArguments, isLocal: boolean): void {
  if (setupOnly !== true || (!isLocal && demo !== true)) return;
  const why = isLocal
    ? 'it is for STACK=external; engines of this stack end with it, and each start sets them up'
    : '--demo needs the services, which it does not start';
  throw new StackError('BAD_DESCRIPTION', `--setup-only: ${why}`);
}

function brokersIn(given: StackArguments, isLocal: boolean): Pick<StackOptions, 'brokers'> {
  if (isLocal) return { brokers: brokersOf(given) };
  if (given.brokers === 1) return {};
  const why = 'it is for local brokers, and the engines are those of another installation';
  throw new StackError('BAD_DESCRIPTION', `--brokers ${given.brokers}: ${why}`);
}

/** A standby needs a second matcher; more of them may be asked for. */
function scaleOf({ scale, standby }: Pick<StackArguments, 'scale' | 'standby'>): Scale {
  const asked = parseScale(scale ?? '');
  return standby === true ? { ...asked, matcher: Math.max(2, asked.matcher ?? 1) } : asked;
}

/**
 * On engines of another installation without the demo a second operator is needed and a resolution can be challenged,
 * unless configured otherwise.
 */
function secondPersonOf(
  isForTries: boolean,
  env: Readonly<Record<string, string | undefined>>,
): Readonly<Record<string, string>> {
  const named = Object.values(secondPersonFields).flatMap(({ name }) => {
    const value = env[name] ?? '';
    return value === '' ? [] : [[name, value] as const];
  });
  const { secondPerson, challengeSeconds } = secondPersonFields;
  const fallback = [secondPerson, challengeSeconds].map(
    (field) => [field.name, String(field.fallback?.value)] as const,
  );
  return Object.fromEntries([...(isForTries ? [] : fallback), ...named]);
}

/** Copies of a topic on engines of another installation: any broker may be lost. */
const externalReplication = 3;

/**
 * The copies of each topic. Engines of another installation need three, two of them in sync, unless the operator says
 * otherwise: with fewer a lost broker stops trading or loses acknowledged orders.
 */
function replicationOf(
  given: Pick<StackArguments, 'replication' | 'brokers'>,
  isLocal: boolean,
  env: Readonly<Record<string, string | undefined>>,
): { replicationFactor: number; replicationMin: number } {
  const local = isLocal ? brokersOf(given) : null;
  const replicationFactor = given.replication ?? local ?? externalReplication;
  const replicationMin = local === null ? replicationMinOf(env) : replicationFactor;
  if (replicationFactor >= replicationMin) return { replicationFactor, replicationMin };
  throw new StackError(
    'BAD_DESCRIPTION',
    `--replication ${replicationFactor} is below ${replicationMin}: a lost broker would stop trading or lose acknowledged orders. ${replicationMinField.name}=${replicationFactor} starts all the same`,
  );
}

function brokersOf({ brokers }: Pick<StackArguments, 'brokers'>): BrokerCount {
  const count = brokerCounts.find((one) => one === brokers);
  if (count !== undefined) return count;
  const allowed = brokerCounts.join(' or ');
  throw new StackError('BAD_DESCRIPTION', `--brokers ${brokers}: allowed is ${allowed}`);
}

function replicationMinOf(env: Readonly<Record<string, string | undefined>>): number {
  const { name, allowed, parse } = replicationMinField;
  const configured = env[name] || String(externalReplication);
  const parsed = parse(configured);
  if (parsed !== null && 'value' in parsed) return parsed.value;
  throw new StackError('BAD_DESCRIPTION', `${name}=${configured}: allowed is ${allowed}`);
}

/**
 * A demo, where test wallets alone have money, also accepts what published clients sign for other exchanges. An
 * installation without a demo accepts it only where its operator says so.
 */
function signingOf(
  seed: boolean,
  env: Readonly<Record<string, string | undefined>>,
): SigningChoice {
  const family = signingFields.familyDomains.parse(env[familyVariable] || String(seed));
  const signingDomain = env[domainVariable] ?? '';
  if (family === null || 'reason' in family)
    throw wrong(familyVariable, signingFields.familyDomains.allowed);
  if (signingDomain !== '' && signingFields.signingDomain.parse(signingDomain) === null) {
    throw wrong(domainVariable, signingFields.signingDomain.allowed);
  }
  return { familyDomains: family.value, signingDomain };
}

function wrong(name: string, allowed: string): StackError {
  return new StackError('BAD_DESCRIPTION', `${name} is not ${allowed}`);
}

function feeWalletOf({ feeWallet }: Pick<SetupArguments, 'feeWallet'>): WalletAddress {
  const wallet = parseWalletAddress(feeWallet);
  if (wallet !== null) return wallet;
  const what = `the fee wallet is 0x and 40 hex digits, not ${feeWallet}`;
  throw new StackError('BAD_DESCRIPTION', `${what} (--fee-wallet, PM_FEE_WALLET)`);
}

function portsOf(given: StackArguments, env: Readonly<Record<string, string | undefined>>): Ports {
  const gateway = given.port === undefined ? {} : { PM_PORT_GATEWAY: given.port };
  return portsFromEnvironment({ ...env, ...gateway });
}
