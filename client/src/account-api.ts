import type { AccountActionResult } from '@pm/schemas/http/account';
import type { Connection } from './connection.ts';
import { ExchangeError, isPassing, leavesOpen, UnresolvedActionError } from './errors.ts';
import type { HttpRequest } from './http.ts';
import { randomId } from './platform.ts';
import { persist } from './retry.ts';
import { Unresolved } from './unresolved.ts';

export interface AccountAction {
  /** Id of this request: repetitions are carried out once. Default: a new one per call, the same for every attempt. */
  readonly id?: string;
  /** A wallet of the caller, if it is not that of the API key. */
  readonly wallet?: string;
}

export interface PositionAction extends AccountAction {
  readonly conditionId: string;
  /** Decimal shares, whole hundredths. */
  readonly amount: string;
}

/**
 * Actions of a wallet besides trading; each is carried out once per id (conventions.md 4.2). After an `ExchangeError`
 * this client has changed nothing under the id. After an `UnresolvedActionError` it may have, and only the same action
 * with the id of the error is safe.
 */
export class AccountApi {
  readonly #connection: Connection;
  /** Actions whose fate a call could not learn, by kind, wallet and id. */
  readonly #unresolved = new Unresolved<string, true>();

  constructor(connection: Connection) {
    this.#connection = connection;
  }

  /** USDC into as many tokens of both outcomes. */
  split(action: PositionAction): Promise<AccountActionResult> {
    return this.#act('split', action);
  }

  /** Tokens of both outcomes into USDC. */
  merge(action: PositionAction): Promise<AccountActionResult> {
    return this.#act('merge', action);
  }

  /** All free tokens of a resolved market into their payout. */
  redeem(action: Omit<PositionAction, 'amount'>): Promise<AccountActionResult> {
    return this.#act('redeem', action);
  }

  /** `amount` in decimal USDC. */
  withdraw(action: AccountAction & { readonly amount: string }): Promise<AccountActionResult> {
    return this.#act('withdrawals', action);
  }

  async #act(
    name: 'split' | 'merge' | 'redeem' | 'withdrawals',
    { conditionId, id = randomId(), ...rest }: Partial<PositionAction>,
  ): Promise<AccountActionResult> {
    const condition = conditionId === undefined ? {} : { condition_id: conditionId };
    const body = { ...rest, ...condition, id };
    const key = `${name} ${rest.wallet?.toLowerCase() ?? ''} ${id}`;
    return await this.#sendOnce({ method: 'POST', path: `/account/${name}`, body }, { id, key });
  }

  /** Once an attempt is lost, only a result ends the action: a refusal is of a later attempt alone. */
  async #sendOnce(
    sent: HttpRequest,
    { id, key }: { readonly id: string; readonly key: string },
  ): Promise<AccountActionResult> {
    const retryBudget = this.#connection.retryBudget();
    let isDoubtful = this.#unresolved.get(key) === true;
    const attempt = async (tries: number): Promise<AccountActionResult> => {
      try {
        return resultOf(await this.#connection.signedOnce(sent, { retryBudget, tries }));
      } catch (error) {
        isDoubtful ||= error instanceof ExchangeError && leavesOpen(error);
        throw error;
      }
    };
    try {
      const result = await persist(retryBudget, isPassing, attempt);
      this.#unresolved.noteResolved(key);
      return result;
    } catch (error) {
      if (!isDoubtful) throw error;
      this.#unresolved.note(key, true);
      throw new UnresolvedActionError(id, error);
    }
  }
}

const texts = ['action', 'id', 'request_id', 'wallet'] as const;

/** A response that is none of an account action says nothing of it, as if there were no response. */
function resultOf(body: unknown): AccountActionResult {
  const result = body as Partial<AccountActionResult> | null;
  if (result?.success === true && texts.every((name) => typeof result[name] === 'string')) {
    return result as AccountActionResult;
  }
  throw new ExchangeError(0, { error: 'no result of an account action', code: 'no_answer' });
}
