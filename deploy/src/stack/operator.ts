import { userInfo } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import type {
  BindWallets,
  BindWalletsResult,
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
  bindWallets(wallets: BindWallets['wallets']): Promise<BindWalletsResult>;
}

/** A request that was not carried out; what was answered may name the place in its body that is wrong. */
export class OperatorRefusal extends StackError {
  readonly answer: string;

  constructor(what: string, answer: string) {
    super('START_FAILED', `${what}: ${answer}`);
    this.name = 'OperatorRefusal';
    this.answer = answer;
  }
}

/** Whom the audit trail names: who runs the tool, without what a name there cannot have (operator.md). */
const operatorName =
  nameOfUser()
    .replace(/[^\w.@-]/g, '')
    .slice(0, 64) || 'catalog-import';

function nameOfUser(): string {
  try {
    return userInfo().username;
  } catch {
    // A container may run as a user that has no entry.
    return '';
  }
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
    bindWallets: (wallets) => {
      const body: BindWallets = { wallets };
      return post(`${baseUrl}/operator/wallet-owners`, token, body);
    },
  };
}

/** Imports, deposits and bindings may be sent again: what was done before stays as it is. */
const retriesMax = 30;
const retryMs = 1_000;

async function post<T>(url: string, token: string, body: unknown): Promise<T> {
  for (let retries = 0; ; retries += 1) {
    const response = await fetch(url, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        authorization: `Bearer ${token}`,
        'x-operator-name': operatorName,
      },
      body: JSON.stringify(body),
      signal: AbortSignal.timeout(timeoutMs),
    });
    const text = await response.text();
    if (response.ok) return JSON.parse(text) as T;
    if (response.status !== 503 || retries === retriesMax) {
      throw new OperatorRefusal(`${url} answered ${response.status}`, text.slice(0, 500));
    }
    await sleep(retryMs);
  }
}
