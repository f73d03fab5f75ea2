import { setTimeout as sleep } from 'node:timers/promises';
import type {
  BindWallets,
  BindWalletsResult,
  Deposits,
  DepositsResult,
  ImportCatalog,
  ImportEvent,
  ImportResult,
} from '@pm/schemas/http/operator';
import { StackError } from '../local/stack-error.ts';

/** The operator's listener, for the tools of this folder. */
export interface Operator {
  importEvents(events: readonly ImportEvent[]): Promise<ImportResult>;
  /** Imports events like `importEvents`, but leaves listed markets unchanged. */
  importNewEvents(events: readonly ImportEvent[]): Promise<ImportResult>;
  /** Ends trading; `payout0` is what a token of the first outcome pays, USDC. */
  resolveMarket(id: string, payout0: string): Promise<void>;
  deposit(deposits: Deposits['deposits']): Promise<DepositsResult>;
  bindWallets(wallets: BindWallets['wallets']): Promise<BindWalletsResult>;
}

/** A request that was refused; the response may name the wrong place in its body. */
export class OperatorRefusal extends StackError {
  readonly response: string;

  constructor(what: string, response: string) {
    super('START_FAILED', `${what}: ${response}`);
    this.name = 'OperatorRefusal';
    this.response = response;
  }
}

const timeoutMs = 60_000;

export function openOperator(baseUrl: string, token: string): Operator {
  const sendImport = (body: ImportCatalog): Promise<ImportResult> =>
    post(`${baseUrl}/operator/catalog`, token, body);
  return {
    importEvents: (events) => sendImport({ events: [...events] }),
    importNewEvents: (events) => sendImport({ events: [...events], onlyNew: true }),
    resolveMarket: async (id, payout0) => {
      await post(`${baseUrl}/operator/markets/${id}/resolve`, token, { payout0 });
    },
    deposit: (deposits) => {
      const body: Deposits = { deposits };
      return post(`${baseUrl}/operator/deposits`, token, body);
    },
    bindWallets: (wallets) => {
      const body: BindWallets = { wallets };
      return post(`${baseUrl}/operator/wallet-owners`, token, body);
    },
  };
}

/** Imports, deposits and bindings may be sent again: they are idempotent. */
const retriesMax = 90;
const retryMs = 1_000;
/** A partition without an answer, or more requests than an operator has within a minute. */
const passing = new Set([429, 503]);

async function post<T>(url: string, token: string, body: unknown): Promise<T> {
  for (let retries = 0; ; retries += 1) {
    const response = await send(url, token, body);
    const text = await response.text();
    if (response.status === 202)
      throw new OperatorRefusal(`${url} waits for a second operator`, text.slice(0, 500));
    if (response.ok) return JSON.parse(text) as T;
    if (!passing.has(response.status) || retries === retriesMax) {
      throw new OperatorRefusal(`${url} returned ${response.status}`, text.slice(0, 500));
    }
    await sleep(retryMs);
  }
}

async function send(url: string, token: string, body: unknown): Promise<Response> {
  const headers = { 'content-type': 'application/json', authorization: `Bearer ${token}` };
  const signal = AbortSignal.timeout(timeoutMs);
  try {
    return await fetch(url, { method: 'POST', headers, body: JSON.stringify(body), signal });
  } catch (error) {
    const { cause, message } = error as Error & { readonly cause?: Partial<Error> };
    const why = cause?.message ?? message;
    const text = `${url} gives no response (${why}): see the log of operator, then send the same again`;
    throw new StackError('START_FAILED', text);
  }
}
