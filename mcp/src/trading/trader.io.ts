import { randomUUID } from 'node:crypto';
import { ExchangeClient, type OrderDraft, type Signer } from '@pm/client';
import { microText, priceText } from '@pm/schemas/decimal';
import type { OrderFinding } from '@pm/schemas/http/order-finding';
import type { WalletBalances } from '@pm/schemas/http/private-reading';
import type { DaySpending } from './day-spending.io.ts';
import type { TradingLimits } from './limits.ts';
import type { OrderMeaning } from './order-meaning.ts';
import { type Preview, Previews } from './previews.ts';

/** A wallet whose private reads are open: by a read-only key, or because this server trades for it. */
export interface OwnAccount {
  readonly wallet: string;
  balances(): Promise<readonly WalletBalances[]>;
}

export interface TraderOptions {
  readonly baseUrl: string;
  readonly signer: Signer;
  readonly limits: TradingLimits;
  readonly spending: DaySpending;
  /** Monotonic clock, milliseconds; default that of the process. */
  readonly nowMs?: () => number;
}

/** A wallet that a model trades with, within the limits of its owner. Its key signs here and is sent nowhere. */
export class Trader implements OwnAccount {
  readonly limits: TradingLimits;
  readonly spending: DaySpending;
  readonly previews = new Previews();
  readonly nowMs: () => number;
  readonly #client: ExchangeClient;
  readonly #signer: Signer;
  #connecting: Promise<unknown> | null = null;

  constructor({ baseUrl, signer, limits, spending, nowMs }: TraderOptions) {
    this.limits = limits;
    this.spending = spending;
    this.nowMs = nowMs ?? (() => performance.now());
    this.#client = new ExchangeClient({ baseUrl, signer });
    this.#signer = signer;
  }

  get wallet(): string {
    return this.#signer.address;
  }

  /** The client with its API key, which the first call obtains. Throws `ExchangeError` when it cannot. */
  async connected(): Promise<ExchangeClient> {
    this.#connecting ??= this.#client.connect();
    try {
      await this.#connecting;
    } catch (error) {
      this.#connecting = null;
      throw error;
    }
    return this.#client;
  }

  async balances(): Promise<readonly WalletBalances[]> {
    return await (await this.connected()).own.balances();
  }

  /** An order that is not signed yet. */
  async draft(meaning: OrderMeaning): Promise<OrderDraft> {
    const client = await this.connected();
    return await client.draftOrder({
      tokenId: meaning.tokenId,
      side: meaning.side,
      price: priceText(meaning.price),
      timeInForce: meaning.timeInForce,
      postOnly: meaning.postOnly,
      ...(meaning.budgetMicro > 0
        ? { budget: microText(meaning.budgetMicro) }
        : { size: microText(meaning.sizeMicro) }),
      ...(meaning.expirationSeconds > 0 ? { expiration: meaning.expirationSeconds } : {}),
    });
  }

  /** Every check of placing but that of the signature, without placing (conventions.md 3.11). */
  async validate({ submission }: OrderDraft): Promise<OrderFinding | null> {
    const [finding] = await (await this.connected()).own.validate([submission]);
    return finding ?? null;
  }

  /** Keeps an order for `previewLifeMs`. */
  remember(
    order: OrderDraft,
    facts: Pick<Preview, 'meaning' | 'conditionId' | 'riskMicro'>,
  ): Preview {
    const preview = { ...facts, order, id: randomUUID(), madeAtMs: this.nowMs() };
    this.previews.add(preview);
    return preview;
  }
}
