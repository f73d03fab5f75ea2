import { setTimeout as sleep } from 'node:timers/promises';
import type {
  Deposits,
  DepositsResult,
  ImportCatalog,
  ImportEvent,
  ImportResult,
} from '@pm/schemas';
import { StackError } from '../local/stack-error.ts';

/** The operator's listener, as the tools of this folder use it. */
export interface Operator {
  importEvents(events: readonly ImportEvent[]): Promise<ImportResult>;
  /** The same, and what is listed already stays as it is. */
  importNewEvents(events: readonly ImportEvent[]): Promise<ImportResult>;
  deposit(deposits: Deposits['deposits']): Promise<DepositsResult>;
}

const timeoutMs = 60_000;

export function openOperator(baseUrl: string, token: string): Operator {
  const sendImport = (body: ImportCatalog): Promise<ImportResult> =>
    post(`${baseUrl}/operator/catalog`, token, body);
  return {
    importEvents: (events) => sendImport({ events: [...events] }),
    importNewEvents: (events) => sendImport({ events: [...events], onlyNew: true }),
    deposit: (deposits) => {
      const body: Deposits = { deposits };
      return post(`${baseUrl}/operator/deposits`, token, body);
    },
  };
}

/** Imports and deposits may be sent again: what was done before stays as it is. */
const retriesMax = 30;
const retryMs = 1_000;

async function post<T>(url: string, token: string, body: unknown): Promise<T> {
  for (let retries = 0; ; retries += 1) {
    const response = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
      body: JSON.stringify(body),
      signal: AbortSignal.timeout(timeoutMs),
    });
    const text = await response.text();
    if (response.ok) return JSON.parse(text) as T;
    if (response.status !== 503 || retries === retriesMax) {
      const said = `${url} answered ${response.status}: ${text.slice(0, 500)}`;
      throw new StackError('START_FAILED', said);
    }
    await sleep(retryMs);
  }
}
