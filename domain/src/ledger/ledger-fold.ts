import { Fault } from '@pm/kit/fault';
import type { WalletAddress } from '@pm/schemas/ids';
import { withdrawalLateMs } from '@pm/schemas/log/accounts';
import type { AppliedTransfer, ExecutionsPiece, LedgerTransfer, TransfersPiece } from './ledger.ts';
import type { LedgerImage, LedgerPlace, WalletMoney } from './ledger-image.ts';
import { MarketEntries } from './market-entries.ts';
import { sumMoves } from './parts.ts';

/**
 * The ledger as a rebuild folds it from the log, in memory: what the applying scripts leave in Redis while the ledger
 * is closed, without reservations, which a rebuild ends. Every piece begins where the one before it ended.
 */
export class LedgerFold implements LedgerImage {
  readonly wallets = new Map<WalletAddress, WalletMoney>();
  readonly transfers = new Map<string, AppliedTransfer>();
  readonly #places = new Map<string, LedgerPlace>();
  readonly #markets = new MarketEntries();

  /** Begins with an image, or with nothing. */
  constructor(image: LedgerImage | null = null) {
    if (image === null) return;
    for (const [wallet, money] of image.wallets) this.wallets.set(wallet, money);
    for (const [id, transfer] of image.transfers) this.transfers.set(id, transfer);
    this.#markets.load(image);
    for (const place of image.places) this.#places.set(nameOf(place), place);
  }

  get markets(): ReadonlyMap<string, string> {
    return this.#markets.entries;
  }

  get breaches(): ReadonlyMap<string, string> {
    return this.#markets.breaches;
  }

  get places(): readonly LedgerPlace[] {
    return [...this.#places.values()];
  }

  /** Entries that grow with use, each of about 200 bytes. */
  get size(): number {
    return this.wallets.size + this.transfers.size + this.markets.size;
  }

  placeOf(topic: LedgerPlace['topic'], partition: number): LedgerPlace {
    const fresh = { topic, partition, offset: 0, generation: 0, timeMs: 0 };
    return this.#places.get(nameOf(fresh)) ?? fresh;
  }

  /** Throws `ledger_gap` (stop) for a piece that does not begin where the last one ended, `ledger_overflow` (stop). */
  applyExecutions(
    piece: Pick<
      ExecutionsPiece,
      'partition' | 'fromOffset' | 'toOffset' | 'clockMs' | 'moves' | 'markets' | 'generation'
    >,
  ): void {
    const place = this.#begin('executions', piece.partition, piece);
    for (const { wallet, freeMicro, heldMicro } of sumMoves(piece.moves))
      this.#move(wallet, freeMicro, heldMicro);
    const where = `${piece.partition}:${piece.toOffset}`;
    for (const change of piece.markets) this.#markets.move(change, where);
    this.#places.set(nameOf(place), {
      ...place,
      offset: piece.toOffset,
      generation: Math.max(place.generation, piece.generation),
      timeMs: piece.clockMs,
    });
  }

  /** Throws `ledger_gap` (stop) for a piece that does not begin where the last one ended, `ledger_overflow` (stop). */
  applyTransfers(piece: TransfersPiece): void {
    const place = this.#begin('transfers', 0, piece);
    let { generation, timeMs: fenceMs } = place;
    for (const one of piece.transfers) {
      if (one.amountMicro !== 0) {
        if (!isVoid(one, generation, fenceMs)) this.#transfer(one);
      } else if (one.generation > 0) generation = Math.max(generation, one.generation);
      else fenceMs = Math.max(fenceMs, one.timeMs);
    }
    const offset = piece.toOffset;
    this.#places.set(nameOf(place), { ...place, offset, generation, timeMs: fenceMs });
  }

  #begin(
    topic: LedgerPlace['topic'],
    partition: number,
    { fromOffset, toOffset }: { readonly fromOffset: number; readonly toOffset: number },
  ): LedgerPlace {
    const place = this.placeOf(topic, partition);
    if (place.offset === fromOffset && fromOffset < toOffset) return place;
    const facts = { topic, partition, fromOffset, toOffset, mark: place.offset };
    throw new Fault('ledger_gap', 'stop', { facts });
  }

  #transfer({ transferId, wallet, amountMicro }: LedgerTransfer): void {
    if (this.transfers.has(transferId)) return;
    this.transfers.set(transferId, { wallet, amountMicro, movedMicro: amountMicro });
    this.#move(wallet, amountMicro, 0);
  }

  #move(wallet: WalletAddress, free: number, held: number): void {
    const before = this.wallets.get(wallet);
    const freeMicro = (before?.freeMicro ?? 0) + free;
    const heldMicro = (before?.heldMicro ?? 0) + held;
    if (!Number.isSafeInteger(freeMicro) || !Number.isSafeInteger(heldMicro))
      throw new Fault('ledger_overflow', 'stop');
    this.wallets.set(wallet, { freeMicro, heldMicro });
  }
}

function isVoid(
  { amountMicro, generation, timeMs }: LedgerTransfer,
  begun: number,
  fenceMs: number,
): boolean {
  return amountMicro < 0 && (generation < begun || timeMs < fenceMs - withdrawalLateMs);
}

function nameOf({ topic, partition }: Pick<LedgerPlace, 'topic' | 'partition'>): string {
  return `${topic}:${partition}`;
}
