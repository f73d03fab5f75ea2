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
  deposit(deposits: Deposits['deposits']): Promise<DepositsResult>;
}

const timeoutMs = 60_000;

export function openOperator(baseUrl: string, token: string): Operator {
  return {
    importEvents: (events) => {
      const body: ImportCatalog = { events: [...events] };
      return post(`${baseUrl}/operator/catalog`, token, body);
    },
    deposit: (deposits) => {
      const body: Deposits = { deposits };
      return post(`${baseUrl}/operator/deposits`, token, body);
    },
  };
}

async function post<T>(url: string, token: string, body: unknown): Promise<T> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
    body: JSON.stringify(body),
    signal: AbortSignal.timeout(timeoutMs),
  });
  const text = await response.text();
  if (response.ok) return JSON.parse(text) as T;
  throw new StackError('START_FAILED', `${url} answered ${response.status}: ${text.slice(0, 500)}`);
}
