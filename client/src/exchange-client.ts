import {
  type ApiKeyTrio,
  type CancelResult,
  headers as names,
  type OrderSubmission,
  type PlacementResult,
  type SigningDomain,
  signingDomains,
} from '@pm/schemas';
import { l1Digest } from './eip712.ts';
import {
  bodyText,
  ExchangeError,
  type HttpOptions,
  type HttpRequest,
  l2Headers,
  request,
} from './http.ts';
import { type BuiltOrder, buildOrder, type OrderIntent } from './order.ts';
import type { Signer } from './wallet.ts';

export interface ExchangeClientOptions extends HttpOptions {
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

export interface OrderBook {
  readonly market: string;
  readonly asset_id: string;
  readonly timestamp: string;
  readonly hash: string;
  readonly bids: readonly { price: string; size: string }[];
  readonly asks: readonly { price: string; size: string }[];
  readonly min_order_size: string;
  readonly tick_size: string;
  readonly neg_risk: boolean;
  readonly last_trade_price: string;
}

/**
 * The exchange as a trader uses it. Reads need nothing; writes need a signer and, once, `connect()`. Writes may be
 * repeated blindly: the same signed order is one order with one answer.
 */
export class ExchangeClient {
  private readonly options: ExchangeClientOptions;
  private readonly domain: SigningDomain;
  private readonly negRiskOf = new Map<string, boolean>();
  private key: (ApiKeyTrio & { readonly address: string }) | null = null;

  constructor(options: ExchangeClientOptions) {
    this.options = options;
    const domain = options.domain ?? signingDomains[0];
    if (domain === undefined) throw new RangeError('no signing domain is known');
    this.domain = domain;
  }

  /** Proves the wallet and obtains its API key (the same wallet and nonce always get the same key). */
  async connect(nonce = 0n): Promise<ApiKeyTrio> {
    const signer = this.signer();
    const timestamp = String(Math.floor(Date.now() / 1000));
    const digest = l1Digest({
      address: signer.address,
      timestamp,
      nonce,
      chainId: this.domain.chainId,
    });
    const trio = await request<ApiKeyTrio>(this.options, {
      method: 'POST',
      path: '/auth/api-key',
      headers: {
        [names.address]: signer.checksummed,
        [names.signature]: signer.sign(digest),
        [names.timestamp]: timestamp,
        [names.nonce]: nonce.toString(),
      },
    });
    this.key = { ...trio, address: signer.checksummed };
    return trio;
  }

  /** Signs an order without sending it; the id is known before the exchange hears of it. */
  async prepareOrder(intent: OrderIntent): Promise<BuiltOrder> {
    const negRisk = await this.negRisk(intent.tokenId);
    return buildOrder(intent, {
      signer: this.signer(),
      domain: this.domain,
      negRisk,
      owner: this.connectedKey().apiKey,
      nowMs: Date.now(),
    });
  }

  /** Sends one signed order. A refusal is a result with `success: false`, not an exception. */
  async postOrder(submission: OrderSubmission): Promise<PlacementResult> {
    try {
      return await this.signed<PlacementResult>({
        method: 'POST',
        path: '/order',
        body: submission,
      });
    } catch (error) {
      const refused = refusalOf(error);
      if (refused === null) throw error;
      return refused;
    }
  }

  /** Sends 1 to 15 signed orders; as many results in the same order. */
  postOrders(submissions: readonly OrderSubmission[]): Promise<readonly PlacementResult[]> {
    return this.signed({ method: 'POST', path: '/orders', body: submissions });
  }

  /** Signs and sends. */
  async placeOrder(intent: OrderIntent): Promise<PlacementResult> {
    const order = await this.prepareOrder(intent);
    return this.postOrder(order.submission);
  }

  cancelOrder(orderID: string): Promise<CancelResult> {
    return this.signed({ method: 'DELETE', path: '/order', body: { orderID } });
  }

  /** Cancels every open order of the wallet in a market, or in one of its tokens. */
  cancelMarketOrders(filter: { market?: string; asset_id?: string }): Promise<CancelResult> {
    return this.signed({ method: 'DELETE', path: '/cancel-market-orders', body: filter });
  }

  book(tokenId: string): Promise<OrderBook> {
    return this.read('/book', { token_id: tokenId });
  }

  /** A signed request as it goes over the wire, for tools that send it themselves. */
  signRequest(sent: HttpRequest): SignedRequest {
    const headers = l2Headers(this.connectedKey(), sent, Date.now());
    return {
      url: this.options.baseUrl + sent.path,
      method: sent.method,
      headers: { 'content-type': 'application/json', ...headers },
      body: sent.body === undefined ? '' : bodyText(sent.body),
    };
  }

  /** Any public read, by path and query. */
  read<T>(path: string, query: Readonly<Record<string, string | undefined>> = {}): Promise<T> {
    return request<T>(this.options, { method: 'GET', path, query });
  }

  /** Any read that belongs to the caller's API key. */
  readOwn<T>(path: string, query: Readonly<Record<string, string | undefined>> = {}): Promise<T> {
    return this.signed<T>({ method: 'GET', path, query });
  }

  private async negRisk(tokenId: string): Promise<boolean> {
    const known = this.negRiskOf.get(tokenId);
    if (known !== undefined) return known;
    const answer = await this.read<{ neg_risk: boolean }>('/neg-risk', { token_id: tokenId });
    this.negRiskOf.set(tokenId, answer.neg_risk);
    return answer.neg_risk;
  }

  private signed<T>(sent: HttpRequest): Promise<T> {
    const headers = l2Headers(this.connectedKey(), sent, Date.now());
    return request<T>(this.options, { ...sent, headers });
  }

  private signer(): Signer {
    if (this.options.signer === undefined) throw new TypeError('this client has no signer');
    return this.options.signer;
  }

  private connectedKey(): ApiKeyTrio & { readonly address: string } {
    if (this.key === null) throw new TypeError('call connect() first');
    return this.key;
  }
}

/** A refused single order is an error status with the full result as its body. */
function refusalOf(error: unknown): PlacementResult | null {
  if (!(error instanceof ExchangeError)) return null;
  const body = error.body as Partial<PlacementResult> | null;
  return body?.success === false ? (body as PlacementResult) : null;
}
