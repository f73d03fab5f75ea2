import { setImmediate as nextTurn } from 'node:timers/promises';
import { CatalogIndex } from '@pm/domain/catalog/catalog-index';
import { KeyedMutex } from '@pm/domain/commands/keyed-mutex.io';
import type { CommandResult } from '@pm/domain/commands/result-waiters';
import { hashOfToken, operatorOf } from '@pm/domain/operators/operators';
import { type StatusFacts, WalletStatuses } from '@pm/domain/wallets/wallet-statuses.io';
import { WalletRows, WalletWriter } from '@pm/domain/wallets/wallet-table.io';
import { type FreezeFacts, WithdrawalFreezes } from '@pm/domain/wallets/withdrawal-freezes.io';
import { type HttpApp, openHttp } from '@pm/kit/http';
import { refuseWebPages } from '@pm/kit/listener';
import { silentLog } from '@pm/kit/log';
import { walletFromBytes } from '@pm/schemas/ids';
import type { Transfer, WalletStatus, WithdrawalFreeze } from '@pm/schemas/log/accounts';
import type { Approval } from '@pm/schemas/log/approvals';
import type { AuditRecord } from '@pm/schemas/log/audit';
import { type CatalogEntry, type CatalogMarket, catalogKey } from '@pm/schemas/log/catalog';
import type { ExecutionEvent } from '@pm/schemas/log/executions';
import type { Command } from '@pm/schemas/log/orders';
import { type OperatorEntry, type OperatorRole, operatorRoles } from '@pm/schemas/operators';
import { OwnersTopic } from '../../ingress/test/owners-fixture.ts';
import { crypto } from '../../ingress/test/signing-fixture.ts';
import { openSocial } from '../../ingress/test/social-fixture.ts';
import { MemoryTopic } from '../../ingress/test/table-fixture.ts';
import { checkResponses } from '../../kit/test/http/declared-responses.ts';
import { ApprovalRows } from '../src/approval-rows.ts';
import { Approvals, type SecondPersonRule } from '../src/approvals.io.ts';
import { AuditTrail } from '../src/audit-trail.io.ts';
import { CatalogLocks } from '../src/catalog/catalog-locks.io.ts';
import type { CatalogServices } from '../src/catalog/matcher-market.io.ts';
import type { DaySums, LoneMove } from '../src/day-sums.io.ts';
import { addOperatorRoutes } from '../src/operator.route.ts';
import type { OperatorServices } from '../src/operator-services.io.ts';
import { Resolutions } from '../src/resolutions.io.ts';

/** A name of the listener besides those of loopback. */
export const listenerName = 'ops.internal';

/** The token of the operator `operator`, who may do everything. */
export const token = 'an-operator-token-of-some-length';

/** The token of the operator of this name: `alice` may do everything, the others have the role they are named after. */
export const tokenNamed = (name: OperatorRole | 'alice') => `the-token-of-${name}`;

function operatorEntries(): readonly OperatorEntry[] {
  const entry = (name: string, itsToken: string, role: OperatorRole): OperatorEntry => ({
    name,
    roles: [role],
    tokenSha256: hashOfToken(itsToken),
  });
  return [
    entry('operator', token, 'admin'),
    entry('alice', tokenNamed('alice'), 'admin'),
    ...operatorRoles.map((role) => entry(role, tokenNamed(role), role)),
  ];
}

/** Result of the matcher for a command that it carries out. */
export function carriedOut(command: Command): CommandResult {
  const kinds = {
    SetMarket: 'MarketSet',
    ResolveMarket: 'MarketResolved',
    SetTradingMode: 'TradingModeSet',
  } as Record<string, string>;
  const event = { ...command, kind: kinds[command.kind], command: 0 } as unknown as ExecutionEvent;
  return { kind: 'executed', place: { partition: 0, inOffset: 1 }, events: [{ index: 0, event }] };
}

/** Every request is carried out at once. */
const onePerson: SecondPersonRule = {
  isOn: false,
  limitsMicro: { deposit: 0, withdrawal: 0 },
  windowMs: 60_000,
  challengeMs: 0,
};

/** The status of an operator's process that does nothing. */
const quietStatus = {
  readiness: { ready: true, reasons: [] },
  markets: 0,
  marketsMax: 1_000,
  boundWallets: 0,
  waitingCommands: 0,
  partitions: [],
};

/** The sums of all days in one. */
export class MemorySums implements Pick<DaySums, 'add'> {
  readonly #sums = new Map<string, number>();

  async add({ way, name, amountMicro, limitMicro, atMs }: LoneMove): Promise<boolean> {
    const key = `${Math.floor(atMs / 86_400_000)} ${way} ${name}`;
    const sum = (this.#sums.get(key) ?? 0) + amountMicro;
    if (sum > limitMicro) return false;
    this.#sums.set(key, sum);
    return true;
  }
}

/** How the first app compiles the schemas of requests; the others of a suite get what it has compiled. */
let validatorCompiler: HttpApp['validatorCompiler'];

/** The operator's listener over a catalog in memory and a matcher that carries out every command. */
export async function openOperator(
  ownersTopic = new OwnersTopic(),
  {
    secondPerson = onePerson,
    approvalsTopic = new MemoryTopic<Approval>(),
    catalogTopic = new MemoryTopic<CatalogEntry>(),
    daySums = new MemorySums(),
    feeNoticeMs = 0,
    marketsMax = 1_000,
  }: {
    secondPerson?: SecondPersonRule;
    approvalsTopic?: MemoryTopic<Approval>;
    catalogTopic?: MemoryTopic<CatalogEntry>;
    daySums?: Pick<DaySums, 'add'>;
    feeNoticeMs?: number;
    marketsMax?: number;
  } = {},
) {
  const catalog = new CatalogIndex();
  const entries = catalogTopic.open({
    apply: (entry) => catalog.take(entry),
    forget: (key) => catalog.forget(key),
  });
  const written: CatalogEntry[] = [];
  const routed: CatalogMarket[] = [];
  const transfers: Transfer[] = [];
  const sent: { partition: number; command: Command }[] = [];
  const trail = new AuditTrail();
  const givenBack: string[] = [];
  const swept: string[] = [];
  const fakes = {
    swept: { canceled: 0, isUnconfirmed: false },
    withdrawn: 'reserved' as 'reserved' | 'conflict' | 'insufficient' | 'applied',
    answer: carriedOut as (command: Command) => CommandResult | Promise<CommandResult>,
    audit: (record: AuditRecord) => trail.take(record),
    operators: operatorEntries() as readonly OperatorEntry[] | 'unreadable',
    nowMs: 1_700_000_000_000,
    /** Numbers of the markets that are traded. */
    traded: new Set<number>(),
    /** How far the clock of the partitions is behind. */
    partitionsBehindMs: 0,
    areReady: true,
    balance: { freeMicro: -2_500_000, heldMicro: 0, availableMicro: -2_500_000 },
  };
  const clock = { nowMs: () => fakes.nowMs, monotonicMs: () => fakes.nowMs };
  const statuses = new WalletRows<StatusFacts>();
  const freezeRows = new WalletRows<FreezeFacts>();
  const table = new MemoryTopic<WalletStatus>().open(statuses);
  const { owners, store: bindings } = ownersTopic.open({ nowMs: clock.nowMs });
  const judge = refuseWebPages([listenerName]);
  const app = openHttp({ log: silentLog, bodyLimitBytes: 1 << 20, judge });
  checkResponses(app);
  if (validatorCompiler !== undefined) app.setValidatorCompiler(validatorCompiler);
  const writer = {
    writeRoutes: async (markets: readonly CatalogMarket[]) => void routed.push(...markets),
    writeEntries: async (changed: readonly CatalogEntry[]) => {
      // As long as a log takes: whatever else is under way goes on meanwhile.
      await nextTurn();
      await entries.write(changed.map((value) => ({ key: catalogKey(value), value })));
      written.push(...changed);
    },
    deleteMarket: (market: number) =>
      entries.write([{ key: catalogKey({ kind: 'CatalogMarket', market }), value: null }]),
    writeTransfers: async (more: readonly Transfer[]) => void transfers.push(...more),
  };
  const freezes = new WithdrawalFreezes(freezeRows);
  const freezeTable = new MemoryTopic<WithdrawalFreeze>().open(freezeRows);
  const walletStatus = new WalletStatuses(statuses, freezes);
  const ledger: OperatorServices['money']['ledger'] & OperatorServices['wallets']['ledger'] = {
    reserveWithdrawal: async ({ amountMicro }) => {
      const paidMicro = fakes.withdrawn === 'applied' ? amountMicro : 0;
      return { outcome: fakes.withdrawn, generation: 4, sender: 'sender', paidMicro };
    },
    cancelReservation: async ({ id }) => void givenBack.push(id),
    appliedTransfer: async (id) => {
      const found = transfers.find(({ transferId }) => `0x${transferId.toString('hex')}` === id);
      if (found === undefined) return null;
      const { wallet, amountMicro } = found;
      return { wallet: walletFromBytes(wallet), amountMicro, movedMicro: amountMicro };
    },
    balance: async () => fakes.balance,
  };
  const approvalRows = new ApprovalRows();
  const approvals = new Approvals({
    clock,
    rows: approvalRows,
    table: approvalsTopic.open(approvalRows),
    mutex: new KeyedMutex(),
    rule: secondPerson,
    daySums,
  });
  const catalogServices: CatalogServices = {
    catalog,
    clock,
    keccak: crypto.keccak,
    partitions: { numbers: [0, 1, 2], placeable: [0, 1, 2] },
    traded: { isTraded: async ({ market: number }) => fakes.traded.has(number) },
    feeNoticeMs,
    marketsMax,
    commands: {
      run: async (partition, command) => {
        sent.push({ partition, command });
        return fakes.answer(command);
      },
    },
    writer,
    locks: new CatalogLocks(new KeyedMutex()),
  };
  const audit = {
    append: async (record: AuditRecord) => fakes.audit(record),
    onLost: () => {},
    page: (asked: Parameters<AuditTrail['page']>[0]) => trail.page(asked),
  };
  const resolutions = new Resolutions({
    approvals,
    catalog: catalogServices,
    partitions: {
      at: () => ({
        inOffset: 1,
        clockMs: fakes.nowMs - fakes.partitionsBehindMs,
        seenAtMs: fakes.nowMs,
      }),
      isReady: () => fakes.areReady,
    },
    audit,
    clock,
    log: silentLog,
  });
  const services: OperatorServices = {
    clock,
    approvals,
    resolutions,
    operators: {
      find: (shown) =>
        fakes.operators === 'unreadable'
          ? 'unreadable'
          : operatorOf(shown, fakes.operators, clock.nowMs()),
    },
    catalog: catalogServices,
    money: {
      approvals,
      clock,
      writer,
      ledger,
      transfers: {
        write: async (transfer) => {
          transfers.push(transfer);
          return 'written';
        },
      },
      freezes,
      owners,
      bindings,
    },
    wallets: {
      walletStatus,
      freezes,
      write: {
        status: new WalletWriter<StatusFacts>({ clock, table }),
        freeze: new WalletWriter<FreezeFacts>({ clock, table: freezeTable }),
      },
      ledger,
      owners,
      bindings,
      sweep: async (wallet) => {
        swept.push(wallet);
        return fakes.swept;
      },
    },
    audit,
    comments: openSocial(catalog, { nowMs: () => 0 }).comments,
    status: () => quietStatus,
  };
  addOperatorRoutes(app, services);
  await app.ready();
  validatorCompiler ??= app.validatorCompiler;
  const post = async (
    url: string,
    payload: object,
    headers: Record<string, string> = { authorization: `Bearer ${token}` },
  ) => {
    const answer = await app.inject({ method: 'POST', url, payload, headers });
    return { status: answer.statusCode, body: answer.json() };
  };
  const send = (method: 'PUT' | 'PATCH') => async (url: string, payload: object) => {
    const headers = { authorization: `Bearer ${token}` };
    const answer = await app.inject({ method, url, payload, headers });
    return { status: answer.statusCode, body: answer.json() };
  };
  return {
    app,
    services,
    owners,
    post,
    get: async (url: string) => {
      const headers = { authorization: `Bearer ${token}` };
      const answer = await app.inject({ method: 'GET', url, headers });
      return { status: answer.statusCode, body: answer.json() };
    },
    put: send('PUT'),
    patch: send('PATCH'),
    catalog,
    written,
    routed,
    transfers,
    sent,
    swept,
    givenBack,
    fakes,
  };
}

export const market = (slug: string, more: object = {}) => ({
  slug,
  question: `${slug}?`,
  ...more,
});
export const event = (slug: string, markets: object[], more: object = {}) => ({
  slug,
  title: slug,
  markets,
  ...more,
});
