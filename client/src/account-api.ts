import type { AccountActionResult } from '@pm/schemas';
import type { Connection } from './connection.ts';
import { ExchangeError } from './errors.ts';
import { randomId } from './platform.ts';

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
 * Actions of a wallet besides trading; each is carried out once per id (conventions.md 4.2). An `ExchangeError` of one
 * has its id as `actionId`: an action that is repeated with this `id` is not carried out twice.
 */
export class AccountApi {
  readonly #connection: Connection;

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
    try {
      return await this.#connection.signed({ method: 'POST', path: `/account/${name}`, body });
    } catch (error) {
      throw error instanceof ExchangeError ? error.withActionId(id) : error;
    }
  }
}
