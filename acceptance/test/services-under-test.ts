import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import type { EngineUrls } from '@pm/deploy/local/engines';
import { builtEntry } from '@pm/deploy/local/paths';
import { setUpExchange } from '@pm/deploy/setup/exchange-setup';
import type { ExchangeKeys } from '@pm/deploy/setup/keys';
import { makeFirstOperator } from '@pm/deploy/setup/operators';
import { defaultFeeWallet } from '@pm/domain/accounts/reserved-addresses';
import { exitCodes } from '@pm/kit/lifecycle';
import type { WalletAddress } from '@pm/schemas/ids';
import { engineUrl } from '../../kit/test/engines.ts';
import { until } from '../../kit/test/kafka/deferred.ts';

/** A start that takes longer hangs, on any machine, milliseconds. */
const startMaxMs = 240_000;

/** The engines that tests share. */
export function engineUrls(): EngineUrls {
  return {
    kafka: engineUrl('KAFKA'),
    registry: engineUrl('REGISTRY'),
    clickhouse: engineUrl('CLICKHOUSE'),
    redis: engineUrl('REDIS'),
  };
}

/** Names of topics, keys and tables of an exchange on engines that tests share, as variables. */
export function namesOf(name: string): Readonly<Record<string, string>> {
  return { PM_TOPIC_PREFIX: `${name}-`, PM_REDIS_PREFIX: name, PM_CLICKHOUSE_DATABASE: name };
}

/** Sets up an exchange whose topics and tables have a name of their own. */
export async function setUpNamed(
  name: string,
  parts: {
    readonly keys: ExchangeKeys;
    readonly partitions: number;
    readonly feeWallet?: WalletAddress;
    readonly hasStore?: boolean;
  },
): Promise<void> {
  const access = namesOf(name);
  const settings = { urls: engineUrls(), feeWallet: defaultFeeWallet };
  const alone = { replicationFactor: 1, progress: () => {} };
  rootKeys.set(name, parts.keys.rootKey);
  await setUpExchange({ access, ...settings, ...alone, ...parts });
}

/** Root keys of the exchanges that were set up, by name. */
const rootKeys = new Map<string, string>();

/** Addresses and names of such an exchange, as variables of its processes. */
export function variablesOf(name: string): Readonly<Record<string, string>> {
  const urls = engineUrls();
  return {
    PM_KAFKA_BROKERS: urls.kafka,
    PM_REGISTRY_URL: urls.registry,
    PM_REDIS_URL: urls.redis,
    PM_CLICKHOUSE_URL: urls.clickhouse,
    ...namesOf(name),
    PM_ROOT_KEY: rootKeys.get(name) ?? '',
  };
}

interface OperatorParts {
  readonly port: number;
  /** The folder with the file of operators. */
  readonly folder: string;
  readonly keys: ExchangeKeys;
}

/** Services of such an exchange as processes. Collects their output; standard error is shown as well. */
export class ServicesUnderTest {
  readonly said: string[] = [];
  readonly #children: ChildProcess[] = [];
  readonly #name: string;
  readonly #more: Readonly<Record<string, string>>;

  constructor(name: string, more: Readonly<Record<string, string>> = {}) {
    this.#name = name;
    this.#more = { PM_OPS_PORT: '0', ...more };
  }

  /** Starts a program of the exchange (deploy/programs.mjs). */
  start(program: string, environment: Readonly<Record<string, string>>): ChildProcess {
    const { PATH } = process.env;
    const child = spawn(process.execPath, [builtEntry(`programs/${program}.mjs`)], {
      env: { PATH, ...variablesOf(this.#name), ...this.#more, ...environment },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    for (const stream of [child.stdout, child.stderr]) {
      stream.on('data', (bytes: Buffer) => this.said.push(bytes.toString('utf8')));
    }
    child.stderr.on('data', (bytes: Buffer) => process.stderr.write(bytes));
    this.#children.push(child);
    return child;
  }

  /**
   * Starts a process and waits until `isServing`. A process that ends with exit code 75 in its start, as where an
   * engine is slow on a busy machine, is started again, as by the supervisor.
   */
  async startServing(
    start: () => ChildProcess,
    isServing: () => Promise<boolean>,
  ): Promise<ChildProcess> {
    let child = start();
    const isUp = async () => {
      const { exitCode, signalCode } = child;
      if (exitCode === exitCodes.engineAway) child = start();
      else if (exitCode !== null || signalCode !== null)
        throw new Error(`the process ended in its start: ${exitCode ?? signalCode}`);
      return await isServing();
    };
    await until(isUp, 'the process serves', startMaxMs);
    return child;
  }

  /** A process of the operator, with one operator who needs no second person, unless `more` says otherwise. */
  startOperator(
    { port, folder, keys }: OperatorParts,
    more: Readonly<Record<string, string>> = {},
  ): ChildProcess {
    return this.start('operator', {
      PM_OPERATOR_PORT: String(port),
      PM_OPERATORS_FILE: makeFirstOperator(folder, keys).file,
      PM_SECOND_PERSON: 'off',
      PM_CHALLENGE_SECONDS: '0',
      PM_FEE_NOTICE_SECONDS: '0',
      PM_OPERATOR_SEED: keys.operatorSeed,
      ...more,
    });
  }

  /** Stops all of them in good order, side by side. */
  async stop(): Promise<void> {
    const stopping = this.#children.map(async (child) => {
      child.kill('SIGTERM');
      if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
    });
    await Promise.all(stopping);
  }
}
