import {
  type ApiKeyTrio,
  type BookSnapshot,
  type CancelResult,
  headers as names,
  type SigningDomain,
  signingDomains,
} from '@pm/schemas';
import { AccountApi } from './account-api.ts';
import { AgentsApi } from './agents-api.ts';
import { cancelOrders } from './cancels.ts';
import { CommentsApi } from './comments-api.ts';
import { Connection, type ConnectionOptions } from './connection.ts';
import { l1Digest } from './eip712.ts';
import { Heartbeat, type HeartbeatOptions } from './heartbeat.ts';
import { bodyText, type HttpRequest, type KeyOfWallet, type Query } from './http.ts';
import { KeysApi } from './keys-api.ts';
import { type BuiltOrder, buildOrder, type OrderIntent } from './order.ts';
import { OwnReads } from './own-reads.ts';
import { type Placement, type PlacementOptions, placeOrders } from './placement.ts';
import type { Signer } from './wallet.ts';

export interface ExchangeClientOptions extends ConnectionOptions {
  readonly signer?: Signer;
  /** Default: the first domain of the exchange. */
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
 * The exchange as a trader uses it. Reads need nothing; writes need a signer and, once, `connect()`. What has no answer, or one
 * that says "not now", is sent again until the client's patience is over (`retry`): orders because the same signed order is one
 * order with one answer, cancels and account actions because repeating them changes nothing. Refusals of orders are results;
 * everything else that fails is an `ExchangeError`.
 */
export class ExchangeClient {
  readonly keys: KeysApi;
  readonly account: AccountApi;
  readonly agents: AgentsApi;
  readonly comments: CommentsApi;
  /** Own orders, trades, balances and notifications. */
  readonly own: OwnReads;
  readonly #connection: Connection;
  readonly #signer: Signer | undefined;
  readonly #domain: SigningDomain;
  readonly #negRiskOf = new Map<string, boolean>();

  constructor(options: ExchangeClientOptions) {
    const domain = options.domain ?? signingDomains[0];
    if (domain === undefined) throw new RangeError('no signing domain is known');
    this.#domain = domain;
    this.#signer = options.signer;
    this.#connection = new Connection(options);
    this.keys = new KeysApi(this.#connection);
    this.account = new AccountApi(this.#connection);
    this.agents = new AgentsApi(this.#connection);
    this.comments = new CommentsApi(this.#connection);
    this.own = new OwnReads(this.#connection);
  }

  /** Proves the wallet and obtains its API key (the same wallet and nonce always get the same key). */
  async connect(nonce = 0n): Promise<ApiKeyTrio> {
    const signer = this.#wallet();
    const timestamp = String(Math.floor(Date.now() / 1000));
    const { chainId } = this.#domain;
    const digest = l1Digest({ address: signer.address, timestamp, nonce, chainId });
    const trio = await this.#connection.send<ApiKeyTrio>({
      method: 'POST',
      path: '/auth/api-key',
      headers: {
        [names.address]: signer.checksummed,
        [names.signature]: signer.sign(digest),
        [names.timestamp]: timestamp,
        [names.nonce]: nonce.toString(),
      },
    });
    this.useKey({ ...trio, address: signer.checksummed });
    return trio;
  }

  /** A key that was obtained before, instead of `connect()`. */
  useKey(key: KeyOfWallet): void {
    this.#connection.useKey(key);
  }

  /** Signs an order without sending it; the id is known before the exchange hears of it. */
  async prepareOrder(intent: OrderIntent): Promise<BuiltOrder> {
    const negRisk = await this.#negRisk(intent.tokenId);
    return buildOrder(intent, {
      signer: this.#wallet(),
      domain: this.#domain,
      negRisk,
      owner: this.#connection.key.apiKey,
      nowMs: Date.now(),
    });
  }

  /**
   * Sends one signed order until its fate is known. A refusal is a result with `success: false`. Throws
   * `UnresolvedOrdersError` when patience ends before: the same order may be sent again.
   */
  async postOrder(order: BuiltOrder, options: PlacementOptions = {}): Promise<Placement> {
    const placements = await placeOrders(this.#connection, [order], {
      ...options,
      route: '/order',
    });
    return placements[0] as Placement;
  }

  /** Sends 1 to 15 signed orders; as many results in the same order. What has no definite answer is sent again alone. */
  postOrders(orders: readonly BuiltOrder[], options: PlacementOptions = {}): Promise<Placement[]> {
    return placeOrders(this.#connection, orders, { ...options, route: '/orders' });
  }

  /** Signs once and sends. */
  async placeOrder(intent: OrderIntent, options: PlacementOptions = {}): Promise<Placement> {
    return await this.postOrder(await this.prepareOrder(intent), options);
  }

  /** Signs 1 to 15 orders and sends them in one request. */
  async placeOrders(
    intents: readonly OrderIntent[],
    options: PlacementOptions = {},
  ): Promise<Placement[]> {
    const orders = await Promise.all(intents.map((intent) => this.prepareOrder(intent)));
    return await this.postOrders(orders, options);
  }

  cancelOrder(orderID: string): Promise<CancelResult> {
    return this.#connection.signed({ method: 'DELETE', path: '/order', body: { orderID } });
  }

  /** Cancels 1 to 3,000 orders by id. */
  cancelOrders(orderIds: readonly string[]): Promise<CancelResult> {
    return cancelOrders(this.#connection, orderIds);
  }

  /** Cancels every open order of the wallet in a market, or in one of its tokens, and what is on its way there. */
  cancelMarketOrders(filter: { market?: string; asset_id?: string }): Promise<CancelResult> {
    const path = '/cancel-market-orders';
    return this.#connection.signed({ method: 'DELETE', path, body: filter });
  }

  /** Cancels every open order of the wallet, and what is on its way. */
  cancelAll(): Promise<CancelResult> {
    return this.#connection.signed({ method: 'DELETE', path: '/cancel-all' });
  }

  /** Opens a session: from the first beat on, silence cancels all orders of this key (sessions.md). */
  startHeartbeat(options: HeartbeatOptions = {}): Heartbeat {
    return new Heartbeat(this.#connection, options);
  }

  /** Bids from low to high, asks from high to low: the best level is the last. */
  book(tokenId: string): Promise<BookSnapshot> {
    return this.read('/book', { token_id: tokenId });
  }

  /** Of up to 500 tokens. */
  books(tokenIds: readonly string[]): Promise<readonly BookSnapshot[]> {
    const body = tokenIds.map((token_id) => ({ token_id }));
    return this.#connection.send({ method: 'POST', path: '/books', body });
  }

  /** The best price to be had on a side: BUY is the best ask. Throws `ExchangeError` 404 when nobody is there. */
  async price(tokenId: string, side: 'BUY' | 'SELL'): Promise<string> {
    const { price } = await this.read<{ price: string }>('/price', { token_id: tokenId, side });
    return price;
  }

  /** Throws `ExchangeError` 404 when a side is empty. */
  async midpoint(tokenId: string): Promise<string> {
    const { mid } = await this.read<{ mid: string }>('/midpoint', { token_id: tokenId });
    return mid;
  }

  /** A signed request as it goes over the wire, for tools that send it themselves. */
  signRequest(sent: HttpRequest): SignedRequest {
    const { headers } = this.#connection.sign(sent);
    return {
      url: this.#connection.baseUrl + sent.path,
      method: sent.method,
      headers: { 'content-type': 'application/json', ...headers },
      body: sent.body === undefined ? '' : bodyText(sent.body),
    };
  }

  /** Any public read, by path and query. */
  read<T>(path: string, query: Query = {}): Promise<T> {
    return this.#connection.read(path, query);
  }

  /** Any read that belongs to the caller's API key. */
  readOwn<T>(path: string, query: Query = {}): Promise<T> {
    return this.#connection.readOwn(path, query);
  }

  async #negRisk(tokenId: string): Promise<boolean> {
    const known = this.#negRiskOf.get(tokenId);
    if (known !== undefined) return known;
    const answer = await this.read<{ neg_risk: boolean }>('/neg-risk', { token_id: tokenId });
    this.#negRiskOf.set(tokenId, answer.neg_risk);
    return answer.neg_risk;
  }

  #wallet(): Signer {
    if (this.#signer === undefined) throw new TypeError('this client has no signer');
    return this.#signer;
  }
}
