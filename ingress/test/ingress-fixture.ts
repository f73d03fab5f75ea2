import type { trioOf } from '@pm/domain/accounts/derive-keys';
import { CatalogIndex } from '@pm/domain/catalog/catalog-index';
import { ReadOffsets } from '@pm/domain/commands/read-offsets.io';
import { RecentResults } from '@pm/domain/commands/recent-results-cache';
import type { CommandResult } from '@pm/domain/commands/result-waiters';
import type {
  AppliedTransfer,
  Reservation,
  ReserveOutcome,
  WithdrawalResult,
} from '@pm/domain/ledger/ledger';
import type { OrderResult } from '@pm/domain/orders/order-result';
import type { Reservations } from '@pm/domain/orders/reservation.io';
import { openHttp } from '@pm/kit/http';
import { silentLog } from '@pm/kit/log';
import {
  type ConditionId,
  conditionIdFromBytes,
  parseOrderId,
  parseWalletAddress,
  tokenIdFromBytes,
  walletFromBytes,
} from '@pm/schemas/ids';
import type { Transfer } from '@pm/schemas/log/accounts';
import type { CatalogMarket } from '@pm/schemas/log/catalog';
import type { ExecutionEvent } from '@pm/schemas/log/executions';
import type { Command } from '@pm/schemas/log/orders';
import { headers as names, type SigningDomain } from '@pm/schemas/signing';
import { checkResponses } from '../../kit/test/http/declared-responses.ts';
import { testDomain } from '../../kit/test/signing-domain.ts';
import type { MadeKey } from '../src/accounts/api-keys.io.ts';
import { addPublicRoutes, type PublicServices } from '../src/http/public.route.ts';
import type { SentOrder } from '../src/orders/command.ts';
import { explainSignature } from '../src/orders/signature-explanation.ts';
import { AccountTopics } from './accounts-fixture.ts';
import { OwnersTopic } from './owners-fixture.ts';
import { ProofMemory } from './proofs-fixture.ts';
import { RetryMemory } from './retry-fixture.ts';
import { SessionProcess, SessionsTopic } from './sessions-fixture.ts';
import { accepted, crypto, openRule } from './signing-fixture.ts';
import { openSocial } from './social-fixture.ts';
import { l2Signature, signedBy, type TestOrder, walletOf, zero32 } from './wallet-fixture.ts';

const nowMs = 1_782_753_357_257;
export const nowSeconds = Math.floor(nowMs / 1000);
export const owner = walletOf(7);

export const market: CatalogMarket = {
  kind: 'CatalogMarket',
  market: 1,
  eventId: '1',
  conditionId: Buffer.alloc(32, 0xc1),
  questionId: Buffer.alloc(32, 0xc2),
  token0: Buffer.alloc(32, 0xa0),
  token1: Buffer.alloc(32, 0xa1),
  outcome0: 'Yes',
  outcome1: 'No',
  question: 'Will it?',
  slug: 'will-it',
  description: '',
  resolutionSource: '',
  image: '',
  icon: '',
  category: '',
  creator: '',
  startDateMs: 0,
  endDateMs: 0,
  createdAtMs: 0,
  updatedAtMs: 0,
  active: true,
  closed: false,
  archived: false,
  negRisk: false,
  negRiskMarketId: null,
  tick: 100,
  minSizeMicro: 5_000_000,
  feeRateBps: 0,
  rebateBps: 0,
  feeVersion: 1,
  askedPayout0: -1,
  nextFeeRateBps: -1,
  feeChangesAtMs: 0,
  proposedPayout0: -1,
  paysAtMs: 0,
  challengedAtMs: 0,
  challenges: 0,
  metadata: '{}',
  closedAtMs: 0,
  groupItemTitle: '',
  rewardsDailyMicro: 0,
  rewardsMinSizeMicro: 0,
  rewardsMaxSpread: 0,
  mode: 'OPEN',
  takerDelayMs: 0,
  payout0: -1,
  partition: 1,
  epoch: 0,
  listed: true,
};

/** Another one, for `lateMarkets`. */
export const lateMarket: CatalogMarket = {
  ...market,
  market: 2,
  conditionId: Buffer.alloc(32, 0xd1),
  questionId: Buffer.alloc(32, 0xd2),
  token0: Buffer.alloc(32, 0xb0),
  token1: Buffer.alloc(32, 0xb1),
  slug: 'will-it-be-late',
};

export const conditionId: ConditionId = conditionIdFromBytes(market.conditionId);
export const lateConditionId: ConditionId = conditionIdFromBytes(lateMarket.conditionId);
export const tokenId = tokenIdFromBytes(market.token0);

let salt = 1;
export function testOrder(change: Partial<TestOrder> = {}): TestOrder {
  salt += 1;
  return {
    salt,
    maker: owner.address,
    signer: owner.address,
    tokenId,
    makerAmount: '5200000',
    takerAmount: '10000000',
    side: 'BUY',
    signatureType: 0,
    timestamp: String(nowMs),
    metadata: zero32,
    builder: zero32,
    ...change,
  };
}

export function signedItem(
  order: TestOrder,
  more: object = {},
  wallet = owner,
  domain: SigningDomain = testDomain,
) {
  const { signature, hash: text } = signedBy(wallet, order, domain);
  const hash = parseOrderId(text);
  if (hash === null) throw new Error('the id of an order');
  return { hash, item: { order: { ...order, signature }, owner: '', orderType: 'GTC', ...more } };
}

/** Result of the ledger for a transfer that was written. */
function appliedOf(id: string, { transfers, paid }: Fakes): AppliedTransfer | null {
  const found = transfers.find(({ transferId }) => `0x${transferId.toString('hex')}` === id);
  if (found === undefined || paid === null) return null;
  const { amountMicro } = found;
  return { wallet: walletFromBytes(found.wallet), amountMicro, movedMicro: -paid(-amountMicro) };
}

export type Answerer = (command: Command) => CommandResult | Promise<CommandResult>;

/** Result of the matcher for an order that rests. */
export function restsAs(command: Command): CommandResult {
  if (command.kind !== 'PlaceOrder') throw new Error('an order is expected');
  const event: ExecutionEvent = {
    ...command,
    kind: 'OrderPlaced',
    command: 0,
    status: 'LIVE',
    filledMicro: 0,
    paidMicro: 0,
    feeMicro: 0,
    restingMicro: command.sizeMicro,
  };
  return answered([event]);
}

export function answered(events: readonly ExecutionEvent[]): CommandResult {
  const place = { partition: 1, inOffset: 42 };
  return { kind: 'executed', place, events: events.map((event, index) => ({ index, event })) };
}

export interface Fakes {
  answer: Answerer;
  reserve: ReserveOutcome | ((reservation: Reservation) => ReserveOutcome);
  /** How far the ledger has read; results are read up to 0. */
  mark: number;
  ready: boolean;
  signaturesFull: boolean;
  explanationsFull: boolean;
  /** Promise that a signature check waits for before it is done. */
  stall: Promise<void>;
  nowMs: number;
  monotonicMs: number;
  readonly sent: { partition: number; command: Command }[];
  /** Orders that are followed because their results did not come. */
  readonly unconfirmed: SentOrder[];
  availableMicro: number;
  withdrawn: WithdrawalResult['outcome'];
  /**
   * Part of a written withdrawal that the ledger pays, micro-USDC; null while the ledger has not folded the withdrawal.
   */
  paid: ((askedMicro: number) => number) | null;
  written: 'written' | 'unsent' | 'unknown';
  readonly transfers: Transfer[];
  /** Final results of delayed orders, at the end of their delay. */
  readonly finalAnswers: Map<string, OrderResult>;
  readonly reserved: string[];
  readonly givenBack: string[];
  readonly frozen: Set<string>;
  readonly unfunded: UnfundedFake;
  /** Listed, and not known before the newest entries of the catalog are read. */
  readonly lateMarkets: CatalogMarket[];
  /** Whether the newest entries of the catalog can be read. */
  catalogIsRead: boolean;
  /** Whether wallets are known to have no money. */
  isWithoutMoney: boolean;
}

/** Every key is looked for, and none has come. */
const noNewKeys: PublicServices['newKeys'] = {
  known: {
    keys: { find: () => undefined },
    readKeys: { find: () => undefined },
    agents: { findByKey: () => undefined },
  },
  settle: async () => {},
};

/** Seconds to wait for requests without reserved money, and the refusals that were counted. */
class UnfundedFake {
  wait: number | null = null;
  readonly counted: string[] = [];
  waitSeconds = () => this.wait;
  refused = (_waiter: object, code: string) => void this.counted.push(code);
}

/**
 * Ingress with all its dependencies in memory; another one on the same topic is the next process. `memorySinceMs`:
 * since when the memory of results is complete; 0 is always.
 */
export async function openIngress(
  topic = new OwnersTopic(),
  memorySinceMs = 0,
  retries = new RetryMemory(),
  accounts = new AccountTopics(),
  sessionsTopic = new SessionsTopic(),
  proofs = new ProofMemory(),
  domains = accepted,
) {
  const fakes: Fakes = {
    answer: restsAs,
    reserve: 'reserved',
    mark: 0,
    ready: true,
    signaturesFull: false,
    explanationsFull: false,
    stall: Promise.resolve(),
    nowMs,
    monotonicMs: 0,
    sent: [],
    unconfirmed: [],
    availableMicro: 1_000_000_000,
    withdrawn: 'reserved',
    paid: (askedMicro) => askedMicro,
    frozen: new Set(),
    written: 'written',
    transfers: [],
    finalAnswers: new Map(),
    reserved: [],
    givenBack: [],
    unfunded: new UnfundedFake(),
    lateMarkets: [],
    catalogIsRead: true,
    isWithoutMoney: false,
  };
  const clock = { nowMs: () => fakes.nowMs, monotonicMs: () => fakes.monotonicMs };
  const { hasher, rule } = openRule(domains);
  const { owners, store: bindings } = topic.open({ nowMs: clock.nowMs });
  const memory = new RecentResults({ bytesMax: 1_000_000, seed: 1 });
  memory.begin(new Map([0, 1, 2].map((partition) => [partition, memorySinceMs])));
  const readOffsets = new ReadOffsets(new Map(), 0);
  const process = new SessionProcess(sessionsTopic, { room: accounts.room });
  const markets = new CatalogIndex();
  markets.take(market);
  const newMarkets = {
    settle: async () => {
      for (const late of fakes.lateMarkets) markets.take(late);
      return fakes.catalogIsRead;
    },
  };
  const { ingress } = accounts.open(owners, clock);
  const { keys } = ingress;
  const social = openSocial(markets, clock, accounts.room);
  const authentication = {
    clock,
    verify: ingress.verify,
    verifyReader: ingress.verifyReader,
    walletStatus: ingress.walletStatus,
    freshness: { secondsMs: 300_000, millisecondsMs: 30_000 },
  };
  const signatures: PublicServices['accounts']['signatures'] &
    PublicServices['orders']['signatures'] = {
    check: async (jobs) => {
      await fakes.stall;
      return fakes.signaturesFull ? null : jobs.map((job) => rule.check(job));
    },
    explain: async (job) =>
      fakes.explanationsFull ? null : explainSignature(job, { hasher, curve: crypto.curve }),
    attest: (claim, purpose) => {
      const address = Buffer.from(claim.address.slice(2), 'hex');
      const hashes = hasher.attestationHashes({ ...claim, address, purpose });
      return rule.attest(claim.signature, hashes, address);
    },
  };
  const at = () => ({ inOffset: 0, clockMs: fakes.nowMs, seenAtMs: 0 });
  const partitions = { numbers: [0, 1, 2], at, isReady: () => fakes.ready };
  const ledger: Reservations = {
    reserve: async (reservation) => {
      fakes.reserved.push(reservation.orderId);
      const { reserve } = fakes;
      const outcome = typeof reserve === 'function' ? reserve(reservation) : reserve;
      return { outcome, generation: 3, sender: 'sender', mark: fakes.mark };
    },
    cancelReservation: async ({ id }) => {
      fakes.givenBack.push(id);
    },
    balance: async () => ({ freeMicro: 0, availableMicro: fakes.availableMicro }),
    reserveWithdrawal: async ({ amountMicro }) => {
      const paidMicro = fakes.withdrawn === 'applied' ? amountMicro : 0;
      return { outcome: fakes.withdrawn, generation: 3, sender: 'sender', paidMicro };
    },
    appliedTransfer: async (id) => appliedOf(id, fakes),
  };
  const commands: PublicServices['cancels']['commands'] = {
    run: async (partition, command) => {
      fakes.sent.push({ partition, command });
      return await fakes.answer(command);
    },
  };
  const repetitions = { authentication, usedProofs: proofs, counts: proofs.counts };
  const checks = {
    authentication,
    clock,
    idempotencyKeys: retries,
    markets,
    newMarkets,
    owners,
    hashes: hasher,
    partitions,
  };
  const services: PublicServices = {
    clock,
    domains,
    accounts: { ...ingress, authentication, signatures, repetitions, owners },
    money: {
      ...checks,
      ledger,
      commands,
      transfers: {
        write: async (transfer) => {
          fakes.transfers.push(transfer);
          return fakes.written;
        },
      },
      freezes: { isFrozen: (wallet) => fakes.frozen.has(wallet) },
      unfunded: fakes.unfunded,
    },
    orders: {
      ...checks,
      signatures,
      recentResults: memory,
      readOffsets,
      delayedResults: {
        finalResult: async (orderId) => fakes.finalAnswers.get(orderId) ?? null,
      },
      unconfirmed: { follow: (sent) => void fakes.unconfirmed.push(sent) },
      ledger,
      commands,
      metrics: { stage() {}, refused() {}, placed() {} },
      unfunded: fakes.unfunded,
    },
    cancels: {
      authentication,
      clock,
      markets,
      newMarkets,
      partitions,
      recentResults: memory,
      commands,
      funds: { isKnownUnfunded: () => fakes.isWithoutMoney },
    },
    sessions: { authentication, heartbeats: process.desk },
    social: {
      authentication,
      comments: social.comments,
      profiles: social.profiles,
      entryQuota: accounts.room,
      listed: social.listed,
      newMarkets,
    },
    repetitions,
    newKeys: noNewKeys,
    keyReadings: { behind: async () => [] },
  };
  const app = openHttp({ log: silentLog, bodyLimitBytes: 256 * 1024, opensToPages: true });
  checkResponses(app);
  // Requests are those of the gateway.
  addPublicRoutes(app, services, ['127.0.0.1']);
  app.addHook('onClose', async () => process.kill());
  await app.ready();
  const wallet = parseWalletAddress(owner.address);
  if (wallet === null) throw new Error('a wallet');
  const trio = trioIn(await keys.create(wallet, '0'));
  return {
    app,
    services,
    fakes,
    retries,
    proofs,
    memory,
    readOffsets,
    markets,
    topic,
    accounts,
    /** Keys, agents and wallets, as the services have them. */
    stores: ingress,
    keys,
    /** Whose wallets are, and where an operator binds them. */
    owners,
    bindings,
    /** Records on the topics of comments and profiles. */
    said: social.said,
    trio,
    process,
    sessionsTopic,
  };
}

/** The key, where no limit was in its way. */
export function trioIn(made: MadeKey): ReturnType<typeof trioOf> {
  if ('max' in made) throw new Error(`no more than ${made.max} keys`);
  return made;
}

export type IngressUnderTest = Awaited<ReturnType<typeof openIngress>>;

export interface SentRequest {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  readonly url: string;
  readonly body?: string;
  readonly headers?: Record<string, string>;
  /** The path that the client signs, when it is not the one it asks for. */
  readonly signedPath?: string;
  /** The body that the client signs, when it is not the one that arrives. */
  readonly signedBody?: string;
  /** Whether the signature covers the `Idempotency-Key`. */
  readonly signsKey?: boolean;
  /** Timestamp of the signature; by default one that no other request has. */
  readonly timestamp?: string;
}

function coveredKeyOf({ signsKey, headers }: SentRequest): string {
  return signsKey === true ? `\n${headers?.['idempotency-key']}` : '';
}

let requests = 0;

/** A timestamp in milliseconds around now that no other request of this process has. */
function newTimestamp({ fakes }: IngressUnderTest): string {
  requests += 1;
  return String(fakes.nowMs + (requests % 1_000));
}

/** A private request as a client of the family sends it. */
export async function call(
  ingress: IngressUnderTest,
  { trio = ingress.trio, ...sent }: SentRequest & { trio?: ReturnType<typeof trioOf> },
) {
  const { timestamp = newTimestamp(ingress) } = sent;
  const path = sent.signedPath ?? sent.url.split('?')[0] ?? '';
  const response = await ingress.app.inject({
    method: sent.method,
    url: sent.url,
    headers: {
      'content-type': 'application/json',
      [names.address]: owner.address,
      [names.apiKey]: trio.apiKey,
      [names.passphrase]: trio.passphrase,
      [names.timestamp]: timestamp,
      [names.signature]: l2Signature(
        trio.secret,
        timestamp + sent.method + path + (sent.signedBody ?? sent.body ?? '') + coveredKeyOf(sent),
      ),
      ...sent.headers,
    },
    ...(sent.body === undefined ? {} : { payload: sent.body }),
  });
  const isJson = String(response.headers['content-type']).startsWith('application/json');
  return {
    status: response.statusCode,
    headers: response.headers,
    body: isJson ? response.json() : response.body,
  };
}

export function place(ingress: IngressUnderTest, items: readonly object[]) {
  const body = JSON.stringify(items.map((item) => ({ ...item, owner: ingress.trio.apiKey })));
  return call(ingress, { method: 'POST', url: '/orders', body });
}

export function placeOne(ingress: IngressUnderTest, item: object) {
  const body = JSON.stringify({
    owner: ingress.trio.apiKey,
    ...item,
    ...('owner' in item && item.owner === '' ? { owner: ingress.trio.apiKey } : {}),
  });
  return call(ingress, { method: 'POST', url: '/order', body });
}
