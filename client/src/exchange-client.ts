import type { BookSnapshot } from '@pm/schemas/http/reading';
import type { ApiKeyTrio, CancelResult } from '@pm/schemas/http/trading';
import type { ResponseOf } from '@pm/schemas/routes/routes';
import type { SigningDomain } from '@pm/schemas/signing';
import { AccountApi } from './account-api.ts';
import { AgentsApi } from './agents-api.ts';
import { type CancelAllResult, Cancels, type MarketFilter } from './cancels.ts';
import { CommentsApi } from './comments-api.ts';
import { Connection, type ConnectionOptions } from './connection.ts';
import { Heartbeat, type HeartbeatOptions } from './heartbeat.ts';
import { bodyText, type HttpRequest, type KeyOfWallet, type Query } from './http.ts';
import { KeysApi } from './keys-api.ts';
import { type BuiltOrder, draftOrder, type OrderDraft, type OrderIntent } from './order.ts';
import { OwnReads } from './own-reads.ts';
import { PinnedDomain } from './pinned-domain.ts';
import { type PlacementOptions, placeOrders } from './placement.ts';
import type { Placement } from './placement-result.ts';
import type { RetryBudget } from './retry.ts';
import {
  type MountedResponseOf,
  type ReadInput,
  type ReadName,
  readRequest,
} from './route-reads.ts';
import { StreamApi, type StreamOptions } from './streams/stream-api.ts';
import type { TypedDataSigner } from './typed-data.ts';
import type { Signer } from './wallet.ts';
import { obtainKey } from './wallet-proof.ts';

export interface ExchangeClientOptions extends ConnectionOptions, StreamOptions {
  /** A key in this process, or a wallet that shows what it signs. */
  readonly signer?: Signer | TypedDataSigner;
  /**
   * Domain of the signatures of orders and of the wallet's proof. Give the one you noted at your first visit: then
   * nothing is fetched, and nothing is ever signed for another one. By default the first that is fetched
   * (`signingDomain()`).
   */
  readonly domain?: SigningDomain;
}

export interface SignedRequest {
  readonly url: string;
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  /** The very bytes that were signed; empty when there is no body. */
  readonly body: string;
}

/**
 * A client of the exchange. Reads need nothing; writes need a signer and, once, `connect()`. A request without a
 * response, or with a transient one, is retried within the retry budget (`retry`): the same signed order is one order
 * with one result, and cancels and account actions are idempotent. Refusals of orders are results; other failures are
 * `ExchangeError`s.
 */
export class ExchangeClient {
  readonly keys: KeysApi;
  readonly account: AccountApi;
  readonly agents: AgentsApi;
  readonly comments: CommentsApi;
  /** Books, trades and other channels as they change. */
  readonly stream: StreamApi;
  /** Own orders, trades, balances and notifications. */
  readonly own: OwnReads;
  readonly #connection: Connection;
  readonly #cancels: Cancels;
  readonly #signer: Signer | TypedDataSigner | undefined;
  readonly #domain: PinnedDomain;
  readonly #negRiskOf = new Map<string, boolean>();

  constructor(options: ExchangeClientOptions) {
    this.#signer = options.signer;
    this.#connection = new Connection(options);
    this.#cancels = new Cancels(this.#connection);
    const fetch = (retryBudget: RetryBudget) =>
      this.#connection.read<ResponseOf<'getSigningDomain'>>('/signing-domain', {}, { retryBudget });
    this.#domain = new PinnedDomain(fetch, options.domain);
    this.keys = new KeysApi(this.#connection);
    this.account = new AccountApi(this.#connection);
    this.agents = new AgentsApi(this.#connection);
    this.comments = new CommentsApi(this.#connection);
    this.stream = new StreamApi(this.#connection, options);
    this.own = new OwnReads(this.#connection, this.stream);
  }

  /**
   * Proves the wallet and obtains its API key: the same wallet and nonce always get the same key. Each process that
   * places orders takes a nonce of its own, as the exchange cancels on the silence of a key. Corrects the clock that
   * this client signs with by that of the exchange.
   */
  async connect(nonce = 0n): Promise<ApiKeyTrio> {
    const signer = this.#wallet();
    const retryBudget = this.#connection.retryBudget();
    const domain = await this.#domain.get(retryBudget);
    const trio = await obtainKey(this.#connection, signer, { nonce, domain, retryBudget });
    // A clock error within the tolerance of this proof may not be within that of the next one.
    this.#connection.correctClock();
    this.useKey({ ...trio, address: signer.checksummed });
    return trio;
  }

  /**
   * The domain that this client signs for: the given one, or the first that the exchange returned. It stays the same
   * for the life of the client. Throws `SigningDomainError` for one that belongs to other exchanges.
   */
  signingDomain(): Promise<SigningDomain> {
    return this.#domain.get(this.#connection.retryBudget());
  }

  /** Throws `SigningDomainError` unless the exchange publishes the domain that this client signs for. */
  verifySigningDomain(): Promise<void> {
    return this.#domain.verify(this.#connection.retryBudget());
  }

  /** A key that was obtained before, instead of `connect()`. */
  useKey(key: KeyOfWallet): void {
    this.#connection.useKey(key);
  }

  /** Signs an order without sending it; its id is known before it is sent. */
  prepareOrder(intent: OrderIntent): Promise<BuiltOrder> {
    return this.#prepare(intent, this.#connection.retryBudget());
  }

  /** An order that is not signed yet, to be validated or shown first. */
  draftOrder(intent: OrderIntent): Promise<OrderDraft> {
    return this.#draft(intent, this.#connection.retryBudget());
  }

  async #prepare(intent: OrderIntent, retryBudget: RetryBudget): Promise<BuiltOrder> {
    const draft = await this.#draft(intent, retryBudget);
    return await draft.sign();
  }

  async #draft(intent: OrderIntent, retryBudget: RetryBudget): Promise<OrderDraft> {
    const negRisk = await this.#negRisk(intent.tokenId, retryBudget);
    const signer = this.#wallet();
    const owner = this.#connection.key.apiKey;
    const domain = await this.#domain.get(retryBudget);
    const nowMs = this.#connection.nowMs();
    return draftOrder(intent, { domain, negRisk, owner, nowMs, signer });
  }

  /**
   * Sends one signed order until its result is known. A refusal is a result with `success: false`. Throws
   * `UnresolvedOrdersError` when the retry budget ends before: the same order may be sent again.
   */
  async postOrder(order: BuiltOrder, options: PlacementOptions = {}): Promise<Placement> {
    const placements = await this.#post([order], options, '/order');
    return placements[0] as Placement;
  }

  /**
   * Sends 1 to 15 signed orders; as many results in the same order. Orders without a definite result are sent again
   * alone.
   */
  postOrders(orders: readonly BuiltOrder[], options: PlacementOptions = {}): Promise<Placement[]> {
    return this.#post(orders, options, '/orders');
  }

  #post(
    orders: readonly BuiltOrder[],
    options: PlacementOptions,
    route: '/order' | '/orders',
  ): Promise<Placement[]> {
    const connection = this.#connection;
    const tokenIds = orders.map(({ submission }) => submission.order.tokenId);
    const retryBudget = connection.retryBudget('placing');
    return connection.placements.run({ retryBudget, tokenIds }, (call) =>
      placeOrders(connection, orders, { ...options, route, call }),
    );
  }

  /**
   * Signs and sends. An order that reached its book too late, which no client can help and which can never be booked,
   * is signed again within the retry budget; with `timeToBookMs` it is a refusal as any other.
   */
  async placeOrder(intent: OrderIntent, options: PlacementOptions = {}): Promise<Placement> {
    const placements = await this.#placeIntents([intent], options, '/order');
    return placements[0] as Placement;
  }

  /** Signs 1 to 15 orders, those that were too late again, and sends them in one request. */
  placeOrders(
    intents: readonly OrderIntent[],
    options: PlacementOptions = {},
  ): Promise<Placement[]> {
    return this.#placeIntents(intents, options, '/orders');
  }

  #placeIntents(
    intents: readonly OrderIntent[],
    options: PlacementOptions,
    route: '/order' | '/orders',
  ): Promise<Placement[]> {
    const connection = this.#connection;
    const tokenIds = intents.map(({ tokenId }) => tokenId);
    const retryBudget = connection.retryBudget('placing');
    // The call begins before it signs: a cancel of all orders that comes meanwhile ends it too.
    return connection.placements.run({ retryBudget, tokenIds }, async (call) => {
      const sign = (intent: OrderIntent) => this.#prepare(intent, call.retryBudget);
      const orders = await Promise.all(intents.map(sign));
      const signAnew = (index: number) => sign(intents[index] as OrderIntent);
      return await placeOrders(connection, orders, { ...options, route, call, signAnew });
    });
  }

  /**
   * Cancels an order. Calls of this client that wait to send it, first or again, end with all their orders: with the
   * last refusal, or `client_canceled` before the first try. On its way it is refused as `fenced`.
   */
  cancelOrder(orderID: string): Promise<CancelResult> {
    return this.#cancels.cancelOne(orderID);
  }

  /** Cancels 1 to 3,000 orders by id. */
  cancelOrders(orderIds: readonly string[]): Promise<CancelResult> {
    return this.#cancels.cancelByIds(orderIds);
  }

  /**
   * Cancels every open order of the wallet in a market, or in one of its tokens, and orders in transit. Calls of this
   * client that wait and have an order of it end as by `cancelAll`.
   */
  cancelMarketOrders(filter: MarketFilter): Promise<CancelAllResult> {
    return this.#cancels.cancelMarket(filter);
  }

  /**
   * Cancels every open order of the wallet, and orders in transit. Placements of this client that wait, to be sent or
   * to be sent again, are not sent any more: they end with the code `client_canceled`, or by what the log says.
   */
  cancelAll(): Promise<CancelAllResult> {
    return this.#cancels.cancelAll();
  }

  /**
   * Opens a session: from the first beat on, silence cancels all orders of this key (sessions.md). The key is silent
   * when nothing beats for it, so each process needs a key of its own (`connect` with another nonce).
   */
  startHeartbeat(options: HeartbeatOptions = {}): Heartbeat {
    return new Heartbeat(this.#connection, options);
  }

  /** Bids from low to high, asks from high to low: the best level is the last. */
  book(tokenId: string): Promise<BookSnapshot> {
    return this.read('/book', { token_id: tokenId });
  }

  /** Books of up to 500 tokens. */
  books(tokenIds: readonly string[]): Promise<readonly BookSnapshot[]> {
    const body = tokenIds.map((token_id) => ({ token_id }));
    return this.#connection.send({ method: 'POST', path: '/books', body });
  }

  /** The best price on a side: BUY is the best ask. Throws `ExchangeError` 404 when that side is empty. */
  async price(tokenId: string, side: 'BUY' | 'SELL'): Promise<string> {
    const { price } = await this.read<ResponseOf<'getPrice'>>('/price', {
      token_id: tokenId,
      side,
    });
    return price;
  }

  /** Throws `ExchangeError` 404 when a side is empty. */
  async midpoint(tokenId: string): Promise<string> {
    const { mid } = await this.read<ResponseOf<'getMidpoint'>>('/midpoint', { token_id: tokenId });
    return mid;
  }

  /** A signed request, for tools that send it themselves. */
  signRequest(sent: HttpRequest): SignedRequest {
    const { headers } = this.#connection.sign(sent);
    return {
      url: this.#connection.baseUrl + sent.path,
      method: sent.method,
      headers: { 'content-type': 'application/json', ...headers },
      body: sent.body === undefined ? '' : bodyText(sent.body),
    };
  }

  /** Any declared public read by the name of its route: `get('getBook', { query: { token_id } })`. */
  get<Name extends ReadName>(name: Name, input: ReadInput<Name> = {}): Promise<ResponseOf<Name>> {
    const { path, query } = readRequest(name, input, false);
    return this.read(path, query);
  }

  /**
   * Any declared public read under the mount of its route's family, in the form of that family (conventions.md 1.1).
   */
  getMounted<Name extends ReadName>(
    name: Name,
    input: ReadInput<Name> = {},
  ): Promise<MountedResponseOf<Name>> {
    const { path, query } = readRequest(name, input, true);
    return this.read(path, query);
  }

  /** Any public read, by path and query. */
  read<T>(path: string, query: Query = {}): Promise<T> {
    return this.#connection.read(path, query);
  }

  /** Any read that belongs to the caller's API key. */
  readOwn<T>(path: string, query: Query = {}): Promise<T> {
    return this.#connection.readOwn(path, query);
  }

  async #negRisk(tokenId: string, retryBudget: RetryBudget): Promise<boolean> {
    const known = this.#negRiskOf.get(tokenId);
    if (known !== undefined) return known;
    const query = { token_id: tokenId };
    const sending = { retryBudget };
    const answer = await this.#connection.read<ResponseOf<'getNegRisk'>>(
      '/neg-risk',
      query,
      sending,
    );
    this.#negRiskOf.set(tokenId, answer.neg_risk);
    return answer.neg_risk;
  }

  #wallet(): Signer | TypedDataSigner {
    if (this.#signer === undefined) throw new TypeError('this client has no signer');
    return this.#signer;
  }
}
