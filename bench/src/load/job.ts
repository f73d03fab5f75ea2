import type { ApiKeyTrio } from '@pm/schemas/http/trading';
import type { SigningDomain } from '@pm/schemas/signing';
import type { WorldMarket } from '../world/world.ts';
import type { LoadShape } from './plan.ts';

/** Facts of the exchange that the load generator knows. */
export interface GeneratorJob {
  readonly domain: SigningDomain;
  readonly markets: readonly WorldMarket[];
  /** Keys of the wallets `traderName(0)` and so on. */
  readonly keys: readonly (ApiKeyTrio & { readonly address: string })[];
}

/** One round of the generator: it signs the orders of a step ahead of time, or sends what it signed last. */
export type GeneratorTask =
  | { readonly kind: 'sign'; readonly shape: LoadShape }
  | { readonly kind: 'send'; readonly url: string; readonly isExchange: boolean };

/** Requests whose planned moment lies in the measured part of a step. Milliseconds count from that moment. */
export interface LoadResult {
  /** One for each request that places, with or without an answer. */
  readonly latenciesMs: readonly number[];
  /** One for each cancel of a wallet. */
  readonly cancelMs: readonly number[];
  /** By order: live, matched, delayed, or the code of a refusal, or the HTTP status, or `no answer`, or `not sent`. */
  readonly outcomes: Readonly<Record<string, number>>;
  /** By order that should rest: canceled or not. */
  readonly cancels: Readonly<Record<string, number>>;
  /** How late the generator itself was with each request. */
  readonly behindMs: readonly number[];
  /** The last response of each route in which nothing was refused, or else the first one. */
  readonly samples: Readonly<Record<string, string>>;
}
