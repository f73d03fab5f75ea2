import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import {
  buildOrder,
  ExchangeClient,
  type OrderIntent,
  type Signer,
  walletFromPrivateKey,
} from '@pm/client';
import { findInstallation } from '@pm/deploy/installation/addresses';
import { type Installation, openInstallation } from '@pm/deploy/installation/open';
import { freePorts } from '@pm/deploy/local/ports';
import { loadOrMakeKeys } from '@pm/deploy/setup/keys';
import { type Operator, openOperator } from '@pm/deploy/stack/operator';
import { manyTimes } from '@pm/deploy/stack/services';
import { openLedger } from '@pm/domain/ledger/redis-ledger.io';
import { redisKeys } from '@pm/schemas/redis/keys';
import { tables } from '@pm/schemas/tables/tables';
import {
  ServicesUnderTest,
  setUpNamed,
  variablesOf,
} from '../../../acceptance/test/services-under-test.ts';
import { waitForProjections } from '../../src/audit/progress.ts';
import { piecesOf } from '../../src/audit/read-log.ts';
import { type AuditCheck, runAudit } from '../../src/audit/run-audit.ts';

/** A small exchange that is audited while orders flow, and then with every table damaged. */
const name = `audited_${process.pid}`;
const folder = mkdtempSync(join(tmpdir(), 'audited-'));
const keys = loadOrMakeKeys(join(folder, 'keys.json'));
const services = new ServicesUnderTest(name);
const builder = `0x${'00'.repeat(31)}b1`;
let installation: Installation;
let operator: Operator;
let baseUrl: string;
let operatorUrl: string;
let matcher: ChildProcess;
let projectors: ChildProcess;
/** The one that is traded and resolved, and one in which orders rest. */
let market: {
  readonly id: string;
  readonly conditionId: string;
  readonly tokenIds: readonly string[];
};
let quietToken: string;

beforeAll(async () => {
  const ports = await freePorts();
  baseUrl = `http://127.0.0.1:${ports.ingress}`;
  operatorUrl = `http://127.0.0.1:${ports.operator}`;
  operator = openOperator(operatorUrl, keys.operatorToken);
  await setUpNamed(name, { keys, partitions: 2 });
  installation = openInstallation(await findInstallation(variablesOf(name), ''), 'audit');
  matcher = services.start('matcher', {
    PM_OWNER_SEED: keys.ownerSeed,
    PM_REPLICATION_MIN: '1',
    PM_OPERATOR_KEY: keys.openingKey,
    PM_SNAPSHOT_DIR: join(folder, 'snapshots'),
  });
  projectors = startProjectors();
  services.start('ingress', {
    PM_HTTP_PORT: String(ports.ingress),
    PM_SIGNOFF_SEED: keys.ingressSeed,
    PM_KEY_SECRET: keys.keySecret,
    ...manyTimes,
  });
  services.startOperator({ port: ports.operator, folder, keys });
  await until(async () => (await fetch(`${baseUrl}/ok`).catch(() => null))?.ok === true);
  await until(async () => (await fetch(operatorUrl).catch(() => null)) !== null);
  const ledger = openLedger(installation.redis, redisKeys(name));
  await until(async () => (await ledger.state()).ready);
  const markets = ['traded', 'quiet'].map((slug) => ({
    slug,
    question: `${slug}?`,
    minOrderSize: '1',
    feeRateBps: 441,
  }));
  const listed = await operator.importEvents([{ slug: 'audited', title: 'Audited', markets }]);
  const [first, second] = listed.markets;
  if (first === undefined || second === undefined) throw new Error('two markets');
  market = first;
  quietToken = second.tokenIds[0] ?? '';
}, 180_000);

afterAll(async () => {
  await services.stop();
  const left = (await installation?.redis.keys(`${name}*`)) ?? [];
  if (left.length > 0) await installation.redis.del(...left);
  await installation?.clickhouse.command(`DROP DATABASE IF EXISTS ${name}`);
  await installation?.close();
  rmSync(folder, { recursive: true, force: true });
}, 60_000);

function startProjectors(): ChildProcess {
  return services.start('projectors', { PM_LEDGER_SEED: keys.ledgerSeed, PM_BATCH_MS: '100' });
}

async function until(isSo: () => Promise<boolean>): Promise<void> {
  for (let tries = 0; tries < 900; tries += 1) {
    if (await isSo()) return;
    await wait(100);
  }
  throw new Error('the condition did not become true in time');
}

/** A wallet with money and pairs of tokens. */
class Trader {
  readonly client: ExchangeClient;
  readonly #signer: Signer;
  #key = '';

  constructor(number: number) {
    this.#signer = walletFromPrivateKey(`0x${String(number).padStart(64, '7')}`);
    this.client = new ExchangeClient({ baseUrl, signer: this.#signer });
  }

  async open(): Promise<void> {
    this.#key = (await this.client.connect()).apiKey;
    const transferId = `0x${this.#signer.address.slice(2).padStart(64, '0')}`;
    const { address: wallet } = this.#signer;
    await operator.deposit([{ transferId, wallet, amount: '1000' }]);
    const ledger = openLedger(installation.redis, redisKeys(name));
    await until(async () => (await ledger.balance(wallet)).freeMicro > 0);
    await this.client.account.split({ conditionId: market.conditionId, amount: '100' });
  }

  async order(intent: Partial<OrderIntent>): Promise<string> {
    const domain = await this.client.signingDomain();
    const context = { signer: this.#signer, domain, negRisk: false, owner: this.#key };
    const base = {
      tokenId: market.tokenIds[0] ?? '',
      side: 'BUY',
      price: '0.50',
      size: '5',
    } as const;
    const order = buildOrder({ ...base, ...intent }, { ...context, nowMs: Date.now() });
    // An order that is refused for lack of money or tokens is audited as well.
    await this.client.postOrder(order);
    return order.orderId;
  }
}

async function trade(maker: Trader, taker: Trader): Promise<void> {
  const other = market.tokenIds[1] ?? '';
  await maker.order({ price: '0.45', size: '8' });
  await taker.order({ side: 'SELL', price: '0.45', size: '3', builder });
  await taker.order({ tokenId: other, price: '0.55', size: '2' });
  const left = await maker.order({ price: '0.40' });
  await maker.client.cancelOrder(left);
  await taker.order({ side: 'SELL', price: '0.60', size: '4' });
}

/** Between two rounds of trades while the audit runs, milliseconds: more of them would find nothing more. */
const tradesEveryMs = 100;

/** Projectors of a busy machine are that late at most, milliseconds. */
const lateMaxMs = 120_000;

async function audit(waitMs = lateMaxMs): Promise<ReadonlyMap<string, AuditCheck>> {
  const found = new Map<string, AuditCheck>();
  await runAudit(installation, {
    waitMs,
    seed: 1,
    onProgress: () => {},
    onCheck: (check) => found.set(check.name, check),
  });
  return found;
}

function broken(checks: ReadonlyMap<string, AuditCheck>): readonly (readonly [string, string])[] {
  const wrong = [...checks].filter(([, check]) => check.wrong.length > 0);
  return wrong.map(([check, { wrong: texts }]) => [check, texts.join('; ')]);
}

/** Damage of each table. */
const damages: Readonly<Record<keyof typeof tables, string>> = {
  fills: 'fee = fee + 1',
  walletFills: 'size = size * 2',
  walletMoves: 'price = price / 2',
  tape: 'size = size + 1',
  builderFills: 'fee = fee * 5',
  resolutions: 'payout0 = 1 - payout0',
  orderEvents: 'resting = resting + 1',
  openOrders: 'outcome = 1 - outcome',
  walletCancels: 'size = size + 1',
  bookEvents: 'size = size + 1',
  positions: 'realized_pnl = realized_pnl + 1000',
  holders: 'cost = cost * 3 + 1',
  midpoints: 'midpoint = ifNull(midpoint, 0) + 0.01',
  candles: 'notional = notional * 7',
  completeness: 'through = through + INTERVAL 1 SECOND',
  bookClosings: 'size = size + 1',
  bookOrders: 'size = size + 1',
  marketRules: 'tick = tick + 0.01',
};

test('an exchange adds up while it trades, and each table that is damaged is named', async () => {
  const [maker, taker] = [new Trader(1), new Trader(2)];
  await maker.open();
  await taker.open();
  await trade(maker, taker);
  await maker.order({ tokenId: quietToken, price: '0.01' });
  let isWanted = true;
  const trading = (async () => {
    while (isWanted) {
      await trade(maker, taker);
      await wait(tradesEveryMs);
    }
  })();
  const whileTrading = await audit();
  isWanted = false;
  await trading;
  expect(broken(whileTrading)).toEqual([]);
  await auditRestartedProjectors(maker, taker);
  await resolve('0.3');
  await taker.client.account.redeem({ conditionId: market.conditionId });
  matcher.kill('SIGTERM');
  await once(matcher, 'exit');
  const checks = await audit();
  expect(broken(checks)).toEqual([]);
  for (const { facts } of checks.values()) expect(facts).not.toMatch(/(^| )0 rows/);
  await services.stop();
  const { clickhouse } = installation;
  const damaging = Object.entries(damages).map(([table, change]) => {
    const { name: damaged } = tables[table as keyof typeof tables];
    return clickhouse.command(
      `ALTER TABLE ${damaged} UPDATE ${change} WHERE 1 SETTINGS mutations_sync = 2`,
    );
  });
  await Promise.all(damaging);
  const named = broken(await audit());
  for (const { name: damaged } of Object.values(tables))
    expect([damaged, named.some(([check]) => check.startsWith(damaged))]).toEqual([damaged, true]);
  const others = ['log (F1)', 'orders (L1)', 'supply (C1)', 'money (C2)', 'ledger (C2)'];
  expect(named.filter(([check]) => others.includes(check))).toEqual([]);
}, 240_000);

/** Tables that are not complete up to the end of the log are not compared with it. */
async function auditRestartedProjectors(maker: Trader, taker: Trader): Promise<void> {
  projectors.kill('SIGKILL');
  await once(projectors, 'exit');
  await trade(maker, taker);
  expect(broken(await audit(0)).map(([check]) => check)).toEqual(['completeness']);
  projectors = startProjectors();
  // The next audit judges what they write.
  const pieces = await piecesOf({ client: installation.client, topicPrefix: `${name}-` });
  expect(await waitForProjections(installation, pieces, lateMaxMs)).toEqual([]);
}

async function resolve(payout0: string): Promise<void> {
  const response = await fetch(`${operatorUrl}/operator/markets/${market.id}/resolve`, {
    method: 'POST',
    headers: { authorization: `Bearer ${keys.operatorToken}`, 'content-type': 'application/json' },
    body: JSON.stringify({ payout0 }),
  });
  expect(response.status).toBe(200);
}
