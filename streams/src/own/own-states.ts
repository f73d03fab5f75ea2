import type { TransferTotals, WalletTransfers } from '@pm/domain/ledger/transfer-totals';
import { type Session, SessionTable } from '@pm/domain/sessions/session-table';
import { type ApiKeyId, type WalletAddress, walletFromBytes } from '@pm/schemas/ids';
import type { Transfer } from '@pm/schemas/log/accounts';
import type { SessionRecord } from '@pm/schemas/log/sessions';

/** State of a wallet outside of the partitions, of its transfers or of a session; the newest state holds. */
export type OwnState =
  | { readonly kind: 'transfers'; readonly transfers: WalletTransfers }
  | { readonly kind: 'session'; readonly session: Session };

type Totals = Pick<TransferTotals, 'apply' | 'forget' | 'of'>;

/**
 * Transfers and sessions by wallet, folded from their topics. Transfers are in memory of the wallets that were read and
 * not forgotten since.
 */
export class OwnStates {
  readonly #totals: Totals;
  readonly #sessions = new SessionTable();
  readonly #keys = new Map<WalletAddress, Set<ApiKeyId>>();
  readonly #listeners = new Set<(wallet: WalletAddress, state: OwnState) => void>();

  constructor(totals: Totals) {
    this.#totals = totals;
  }

  /** Calls the listener with each new state from now on. */
  listen(listener: (wallet: WalletAddress, state: OwnState) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  takeTransfer(offset: number, transfer: Transfer): void {
    const wallet = this.#totals.apply(offset, transfer);
    if (wallet === null) return;
    this.#report(wallet, { kind: 'transfers', transfers: this.#totals.of(wallet) });
  }

  takeSession(record: SessionRecord): void {
    const session = this.#sessions.apply(record);
    if (session === null) return;
    const wallet = walletFromBytes(session.wallet);
    const keys = this.#keys.get(wallet) ?? new Set();
    this.#keys.set(wallet, keys.add(session.apiKey));
    this.#report(wallet, { kind: 'session', session });
  }

  /** Its transfers, then the newest session of each of its API keys that had one. */
  of(wallet: WalletAddress): readonly OwnState[] {
    const sessions = [...(this.#keys.get(wallet) ?? [])].flatMap((apiKey) => {
      const session = this.#sessions.find(apiKey);
      return session === undefined ? [] : [{ kind: 'session', session } as const];
    });
    return [{ kind: 'transfers', transfers: this.#totals.of(wallet) }, ...sessions];
  }

  /** Nothing reads the states of the wallet any more: no transfers of it are reported before it is read again. */
  forget(wallet: WalletAddress): void {
    this.#totals.forget(wallet);
  }

  #report(wallet: WalletAddress, state: OwnState): void {
    for (const listener of this.#listeners) listener(wallet, state);
  }
}
