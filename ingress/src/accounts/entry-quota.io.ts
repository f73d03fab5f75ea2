import type { Ledger } from '@pm/domain/ledger/ledger.io';
import type { WalletOwners } from '@pm/domain/wallets/wallet-owners';
import { refuse } from '@pm/kit/http';
import { microText } from '@pm/schemas/decimal';
import type { WalletAddress } from '@pm/schemas/ids';
import { entryMoneyMicro } from '@pm/schemas/redis/held-entries';
import type { RefusalCode } from '@pm/schemas/refusals';
import type { FastifyReply } from 'fastify';

export interface EntryQuotaOptions {
  readonly ledger: Pick<Ledger, 'balance'>;
  readonly owners: Pick<WalletOwners, 'walletsOf'>;
}

/** Entries of a table, and how many of them wallets without money may make (`freeEntries`). */
export interface Held {
  readonly entries: number;
  readonly free: number;
}

/** The limit that one more entry would break: that of the wallet; null: that of all wallets without money together. */
export interface BrokenLimit {
  readonly max: number | null;
}

/** Decides who may add an entry to a table that all processes hold in memory. */
export class EntryQuota {
  readonly #options: EntryQuotaOptions;

  constructor(options: EntryQuotaOptions) {
    this.#options = options;
  }

  /**
   * Whether the wallet may add an entry: while there is free room, or if it has money. Rejects with a `Fault` (retry)
   * when the ledger is unavailable.
   */
  async admits({ entries, free }: Held, wallet: WalletAddress): Promise<boolean> {
    return entries < free || (await this.hasMoney(wallet));
  }

  /**
   * Whether the wallet has `entryMoneyMicro`, in itself or in contract wallets of its own; money in open orders counts.
   * Rejects with a `Fault` (retry) when the ledger is unavailable.
   */
  async hasMoney(wallet: WalletAddress): Promise<boolean> {
    const { ledger, owners } = this.#options;
    const balances = await Promise.all(owners.walletsOf(wallet).map((one) => ledger.balance(one)));
    const sumMicro = balances.reduce((sum, { freeMicro, heldMicro }) => {
      return sum + Math.max(0, freeMicro + heldMicro);
    }, 0);
    return sumMicro >= entryMoneyMicro;
  }
}

/** Facts of the text of `deposit_required`. */
export const depositFacts = { amount: microText(entryMoneyMicro) } as const;

export function refuseWithoutMoney(reply: FastifyReply): FastifyReply {
  return refuse(reply, 'deposit_required', depositFacts);
}

/** `code` is that of the wallet's own limit. */
export function refuseLimit(
  reply: FastifyReply,
  code: RefusalCode,
  { max }: BrokenLimit,
): FastifyReply {
  return max === null ? refuseWithoutMoney(reply) : refuse(reply, code, { max });
}
