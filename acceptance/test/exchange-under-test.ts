import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import {
  type BuiltOrder,
  buildOrder,
  ExchangeClient,
  type KeyOfWallet,
  type OrderIntent,
  type Signer,
  signedHeaders,
  walletFromPrivateKey,
} from '@pm/client';
import { freePorts } from '@pm/deploy/local/ports';
import { type ExchangeKeys, loadOrMakeKeys } from '@pm/deploy/setup/keys';
import { type Operator, openOperator } from '@pm/deploy/stack/operator';
import { manyTimes } from '@pm/deploy/stack/services';
import type { Ledger } from '@pm/domain/ledger/ledger.io';
import { openLedger } from '@pm/domain/ledger/redis-ledger.io';
import { silentLog } from '@pm/kit/log';
import { openRedis, type RedisClient } from '@pm/kit/redis';
import type { ApiKeyTrio, PlacementResult } from '@pm/schemas/http/trading';
import { redisKeys } from '@pm/schemas/redis/keys';
import type { SigningDomain } from '@pm/schemas/signing';
import { engineUrl } from '../../kit/test/engines.ts';
import { ServicesUnderTest, setUpNamed } from './services-under-test.ts';

/** One ingress process. */
export interface IngressProcess {
  readonly process: ChildProcess;
  readonly port: number;
}

/** One process of the operator. */
export interface OperatorProcess {
  readonly process: ChildProcess;
  readonly port: number;
  readonly operator: Operator;
}

export interface Trader {
  readonly signer: Signer;
  readonly trio: ApiKeyTrio;
  readonly domain: SigningDomain;
}

/** Resolves when the condition is true; rejects after so many seconds. */
export async function until(isSo: () => Promise<boolean>, seconds = 240): Promise<void> {
  for (let tries = 0; tries < seconds * 10; tries += 1) {
    if (await isSo()) return;
    await wait(100);
  }
  throw new Error('the condition did not become true in time');
}

/**
 * An order that is signed so far ahead, milliseconds, is a new one also for an ingress that has just started, which
 * leaves others without an answer when operators forbid them. The matcher takes orders up to 300 s ahead.
 */
export const certainlyNewMs = 60_000;

/** An order to buy one share at 0.10, unless `how` differs. */
export function order(
  { signer, trio, domain }: Trader,
  token: string,
  price = '0.10',
  { aheadMs = 0, ...how }: Partial<OrderIntent> & { readonly aheadMs?: number } = {},
): BuiltOrder {
  const nowMs = Date.now() + aheadMs;
  const context = { signer, domain, negRisk: false, owner: trio.apiKey, nowMs };
  return buildOrder({ tokenId: token, side: 'BUY', price, size: '1', ...how }, context);
}

/** The key of a trader, with its wallet. */
export function keyOf({ signer, trio }: Pick<Trader, 'signer' | 'trio'>): KeyOfWallet {
  return { ...trio, address: signer.checksummed };
}

export function headersOf(trader: Trader, method: string, path: string, body: string) {
  const signed = signedHeaders(keyOf(trader), { method, path, body }, Date.now());
  return { 'content-type': 'application/json', ...signed };
}

/** A request that is not answered within this time hangs, on any machine. */
const answerMaxMs = 120_000;

/** Sends a request; a repetition has the same bytes. */
export async function send(
  { port }: Pick<IngressProcess, 'port'>,
  sent: {
    readonly method: string;
    readonly path: string;
    readonly headers: Record<string, string>;
    readonly body: string;
  },
) {
  const { method, path, headers, body } = sent;
  const response = await fetch(`http://127.0.0.1:${port}${path}`, {
    method,
    headers,
    body: body === '' ? null : body,
    signal: AbortSignal.timeout(answerMaxMs),
  });
  return {
    status: response.status,
    headers: response.headers,
    body: (await response.json()) as never,
  };
}

export async function call(
  ingress: Pick<IngressProcess, 'port'>,
  trader: Trader,
  method: string,
  path: string,
  { body = '', headers = {} }: { body?: string; headers?: Record<string, string> } = {},
) {
  const all = { ...headersOf(trader, method, path, body), ...headers };
  return await send(ingress, { method, path, headers: all, body });
}

export async function place(
  ingress: IngressProcess,
  trader: Trader,
  orders: readonly BuiltOrder[],
  key?: string,
) {
  const body = JSON.stringify(orders.map(({ submission }) => submission));
  const headers: Record<string, string> = key === undefined ? {} : { 'idempotency-key': key };
  const answer = await call(ingress, trader, 'POST', '/orders', { body, headers });
  return { ...answer, body: answer.body as readonly PlacementResult[] };
}

export async function cancelAll(
  ingress: IngressProcess,
  trader: Trader,
): Promise<readonly string[]> {
  const answer = await call(ingress, trader, 'DELETE', '/cancel-all');
  expect(answer.status).toBe(200);
  return (answer.body as { canceled: string[] }).canceled;
}

/**
 * An exchange of its own on the engines that tests share: a matcher, the ledger's projector, one or two ingress
 * processes and one of the operator, with one market in each partition.
 */
export class ExchangeUnderTest {
  readonly name: string;
  readonly keys: ExchangeKeys;
  readonly services: ServicesUnderTest;
  readonly redis: RedisClient;
  readonly ledger: Ledger;
  readonly folder: string;
  readonly #ingresses: IngressProcess[] = [];
  #operator: OperatorProcess | null = null;
  #domain: SigningDomain | null = null;
  tokens: readonly string[] = [];
  /** The other token of each market. */
  otherTokens: readonly string[] = [];
  conditions: readonly string[] = [];
  #traders = 0;
  #matcher: ChildProcess | null = null;
  #projectors: ChildProcess | null = null;

  private constructor(label: string, more: Readonly<Record<string, string>>) {
    this.name = `${label}_${process.pid}`;
    this.folder = mkdtempSync(join(tmpdir(), `${label}-`));
    this.keys = loadOrMakeKeys(join(this.folder, 'keys.json'));
    this.services = new ServicesUnderTest(this.name, more);
    this.redis = openRedis({ url: engineUrl('REDIS'), log: silentLog });
    this.ledger = openLedger(this.redis, redisKeys(this.name));
  }

  /** `more`: variables of all its services. */
  static async open(
    label: string,
    partitions: number,
    more: Readonly<Record<string, string>> = {},
  ): Promise<ExchangeUnderTest> {
    const exchange = new ExchangeUnderTest(label, more);
    await exchange.#start(partitions, { ingresses: 2, operator: {} });
    return exchange;
  }

  /**
   * Opens an exchange with one ingress process, for tests that need no second one. `operator`: variables of its
   * operator.
   */
  static async openLone(
    label: string,
    partitions: number,
    operator: Readonly<Record<string, string>> = {},
  ): Promise<ExchangeUnderTest> {
    const exchange = new ExchangeUnderTest(label, {});
    await exchange.#start(partitions, { ingresses: 1, operator });
    return exchange;
  }

  /** All processes start side by side: each waits for the engines much of the time. */
  async #start(
    partitions: number,
    { ingresses, operator }: { ingresses: number; operator: Readonly<Record<string, string>> },
  ): Promise<void> {
    await setUpNamed(this.name, { keys: this.keys, partitions });
    this.startMatcher();
    this.startProjectors();
    const opening = Array.from({ length: ingresses }, () => this.openIngress());
    const all = [Promise.all(opening), this.openOperator(operator)] as const;
    const [opened, operatorProcess] = await Promise.all(all);
    this.#ingresses.push(...opened);
    this.#operator = operatorProcess;
    await this.#list(partitions);
    await until(async () => (await this.ledger.state()).ready);
  }

  /** The matcher, or one more, with the key of an owner. */
  startMatcher(ownerSeed = this.keys.ownerSeed, more: Readonly<Record<string, string>> = {}): void {
    this.#matcher = this.services.start('matcher', {
      PM_OWNER_SEED: ownerSeed,
      PM_REPLICATION_MIN: '1',
      PM_OPERATOR_KEY: this.keys.openingKey,
      PM_SNAPSHOT_DIR: join(this.folder, 'snapshots'),
      ...more,
    });
  }

  /** The projector of the ledger, or one more, with a key of the ledger. */
  startProjectors(
    ledgerSeed = this.keys.ledgerSeed,
    more: Readonly<Record<string, string>> = {},
  ): void {
    this.#projectors = this.services.start('projectors', {
      PM_VIEWS: 'ledger',
      PM_LEDGER_SEED: ledgerSeed,
      ...more,
    });
  }

  /** The processes that were started last. */
  get started(): { readonly matcher: ChildProcess; readonly projectors: ChildProcess } {
    const [matcher, projectors] = [this.#matcher, this.#projectors];
    if (matcher === null || projectors === null) throw new Error('both are started by now');
    return { matcher, projectors };
  }

  /** Ends the matcher without a chance to say so. */
  async killMatcher(): Promise<void> {
    const matcher = this.#matcher;
    if (matcher === null) return;
    matcher.kill('SIGKILL');
    if (matcher.exitCode === null && matcher.signalCode === null) await once(matcher, 'exit');
  }

  /** The one that is always there. */
  get ingress(): IngressProcess {
    const [first] = this.#ingresses;
    if (first === undefined) throw new Error('there is an ingress process');
    return first;
  }

  /** The two that `open` starts. */
  get ingresses(): readonly [IngressProcess, IngressProcess] {
    const [first, second] = this.#ingresses;
    if (first === undefined || second === undefined)
      throw new Error('there are two ingress processes');
    return [first, second];
  }

  /** The process of the operator that is always there. */
  get operatorProcess(): OperatorProcess {
    if (this.#operator === null) throw new Error('there is a process of the operator');
    return this.#operator;
  }

  get operator(): Operator {
    return this.operatorProcess.operator;
  }

  /** One more ingress, with its public listener on this host. */
  async openIngress(
    host = '127.0.0.1',
    more: Readonly<Record<string, string>> = {},
  ): Promise<IngressProcess> {
    const { keys } = this;
    const ports = await freePorts();
    const env = {
      PM_HOST: host,
      PM_HTTP_PORT: String(ports.ingress),
      PM_SIGNOFF_SEED: keys.ingressSeed,
      PM_KEY_SECRET: keys.keySecret,
      ...manyTimes,
      ...more,
    };
    const url = `http://${host}:${ports.ingress}/ok`;
    const child = await this.services.startServing(
      () => this.services.start('ingress', env),
      async () => (await fetch(url).catch(() => null))?.ok === true,
    );
    return { process: child, port: ports.ingress };
  }

  /** One more process of the operator; one operator suffices unless `more` says otherwise. */
  async openOperator(more: Readonly<Record<string, string>> = {}): Promise<OperatorProcess> {
    const { keys, folder } = this;
    const { operator: port } = await freePorts();
    const url = `http://127.0.0.1:${port}`;
    const child = await this.services.startServing(
      () => this.services.startOperator({ port, folder, keys }, more),
      async () => (await fetch(url).catch(() => null)) !== null,
    );
    return { process: child, port, operator: openOperator(url, keys.operatorToken) };
  }

  /** A wallet that no other caller got. */
  newSigner(): Signer {
    this.#traders += 1;
    return walletFromPrivateKey(`0x${String(this.#traders).padStart(64, '7')}`);
  }

  /** An API key of the wallet; other ingress processes than the first learn of it from the log. */
  async makeKey(signer: Signer, nonce = 0n): Promise<Trader> {
    const known = this.#domain === null ? {} : { domain: this.#domain };
    const baseUrl = `http://127.0.0.1:${this.ingress.port}`;
    const client = new ExchangeClient({ baseUrl, signer, ...known });
    const domain = await client.signingDomain();
    this.#domain = domain;
    return { signer, trio: await client.connect(nonce), domain };
  }

  /** An API key of the wallet, known to every ingress process that is always there. */
  async openKey(signer: Signer, nonce = 0n): Promise<Trader> {
    const trader = await this.makeKey(signer, nonce);
    const last = this.#ingresses.at(-1) ?? this.ingress;
    await until(async () => (await call(last, trader, 'DELETE', '/cancel-all')).status === 200);
    return trader;
  }

  /** Money for the wallet, in the ledger. */
  async deposit(wallet: Signer['address'], amount: string): Promise<void> {
    const before = (await this.ledger.balance(wallet)).freeMicro;
    const transferId = `0x${wallet.slice(2).padStart(64, '0')}`;
    await this.operator.deposit([{ transferId, wallet, amount }]);
    await until(async () => (await this.ledger.balance(wallet)).freeMicro > before);
  }

  /** A wallet with an API key and money. */
  async openTrader(amount: string): Promise<Trader> {
    const signer = this.newSigner();
    await this.deposit(signer.address, amount);
    return await this.openKey(signer);
  }

  /**
   * Forgets what was counted for rate limits: set-up goes through processes with wide limits, which count in the same
   * place and lease more of a window than a limited process has.
   */
  async forgetCounts(): Promise<void> {
    const counts = await this.redis.keys(`${this.name}:limits:*`);
    if (counts.length > 0) await this.redis.del(...counts);
  }

  /** A request to the operator's listener, of the process that is always there unless another one is named. */
  async operate(
    method: 'GET' | 'POST' | 'PUT' | 'PATCH',
    path: string,
    body?: object,
    { port }: Pick<OperatorProcess, 'port'> = this.operatorProcess,
  ) {
    const headers = {
      authorization: `Bearer ${this.keys.operatorToken}`,
      'content-type': 'application/json',
    };
    const response = await fetch(`http://127.0.0.1:${port}/operator/${path}`, {
      method,
      headers,
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    return { status: response.status, body: (await response.json()) as never };
  }

  async close(): Promise<void> {
    await this.services.stop();
    const left = await this.redis.keys(`${this.name}:*`);
    if (left.length > 0) await this.redis.del(...left);
    await this.redis.quit();
    rmSync(this.folder, { recursive: true, force: true });
  }

  async #list(partitions: number): Promise<void> {
    const markets = Array.from({ length: partitions }, (_, index) => ({
      slug: `entry-${index}`,
      question: `Entry ${index}?`,
      minOrderSize: '1',
    }));
    const event = { slug: 'entry', title: 'Entry', markets };
    const listed = await this.operator.importEvents([event]);
    expect(new Set(listed.markets.map(({ partition }) => partition)).size).toBe(partitions);
    this.tokens = listed.markets.map(({ tokenIds }) => tokenIds[0] ?? '');
    this.otherTokens = listed.markets.map(({ tokenIds }) => tokenIds[1] ?? '');
    this.conditions = listed.markets.map(({ conditionId }) => conditionId);
  }
}
