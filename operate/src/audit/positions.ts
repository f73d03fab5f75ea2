import type { Side } from '@pm/schemas/log/types';
import { notionalMicro } from '@pm/schemas/money';

export interface PositionKey {
  readonly wallet: string;
  readonly market: number;
  readonly outcome: number;
}

/** A change of the position of a wallet in a token. */
export interface Leg extends PositionKey {
  readonly side: Side;
  readonly sizeMicro: number;
  /** Value of a share, 1/10000 USDC. */
  readonly price: number;
  /** False for splits, merges and redemptions. */
  readonly isTrade: boolean;
}

/** The record a change comes from. */
export interface LegSource {
  readonly partition: number;
  readonly inOffset: number;
  readonly timeMs: number;
}

/** Position and history of a wallet in a token; micro-shares and micro-USDC. */
export interface Position extends PositionKey {
  readonly sizeMicro: number;
  readonly costMicro: number;
  readonly boughtMicro: number;
  readonly sharesMicro: number;
  readonly realizedMicro: number;
  readonly volumeMicro: number;
  /** Time of the last change, Unix milliseconds; the next two fields are its in_offset and its partition. */
  readonly updatedMs: number;
  readonly version: number;
  readonly partition: number;
}

const [size, cost, bought, shares, realized, volume, updated, version, partition, cellsEach] = [
  0, 1, 2, 3, 4, 5, 6, 7, 8, 9,
] as const;

/** Positions of a piece of memory: those of a million wallets are in some hundred pieces. */
const pieceLength = 8_192;

/**
 * All positions there ever were, by average cost (definitions.md). They are many and live as long as the fold, so their
 * numbers are in arrays, without an object for each.
 */
export class Positions {
  readonly #places = new Map<string, Map<number, number>>();
  readonly #pieces: Float64Array[] = [];
  #count = 0;

  get count(): number {
    return this.#count;
  }

  get wallets(): readonly string[] {
    return [...this.#places.keys()];
  }

  apply(leg: Leg, source: LegSource): void {
    const [cells, from] = this.#cellsOf(leg.wallet, leg.market * 2 + leg.outcome);
    const valueMicro = notionalMicro(leg.price, leg.sizeMicro);
    if (leg.side === 'BUY') {
      addTo(cells, from + size, leg.sizeMicro);
      addTo(cells, from + cost, valueMicro);
      addTo(cells, from + bought, valueMicro);
      addTo(cells, from + shares, leg.sizeMicro);
    } else {
      const held = cells[from + size] ?? 0;
      const removed = shareOf(cells[from + cost] ?? 0, leg.sizeMicro, held);
      addTo(cells, from + size, -leg.sizeMicro);
      addTo(cells, from + cost, -removed);
      addTo(cells, from + realized, valueMicro - removed);
    }
    if (leg.isTrade) addTo(cells, from + volume, valueMicro);
    cells[from + updated] = source.timeMs;
    cells[from + version] = source.inOffset;
    cells[from + partition] = source.partition;
  }

  /** Null when the wallet never had the token. */
  get(key: PositionKey): Position | null {
    const place = this.#places.get(key.wallet)?.get(key.market * 2 + key.outcome);
    return place === undefined ? null : this.#read(key, place);
  }

  *[Symbol.iterator](): Generator<Position> {
    for (const wallet of this.#places.keys()) yield* this.of(wallet);
  }

  /** All positions of a wallet, closed ones too. */
  *of(wallet: string): Generator<Position> {
    for (const [token, place] of this.#places.get(wallet) ?? [])
      yield this.#read({ wallet, market: Math.floor(token / 2), outcome: token % 2 }, place);
  }

  #read({ wallet, market, outcome }: PositionKey, place: number): Position {
    const cells = this.#pieces[Math.floor(place / pieceLength)] ?? [];
    const from = (place % pieceLength) * cellsEach;
    const cell = (index: number) => cells[from + index] ?? 0;
    return {
      wallet,
      market,
      outcome,
      sizeMicro: cell(size),
      costMicro: cell(cost),
      boughtMicro: cell(bought),
      sharesMicro: cell(shares),
      realizedMicro: cell(realized),
      volumeMicro: cell(volume),
      updatedMs: cell(updated),
      version: cell(version),
      partition: cell(partition),
    };
  }

  #cellsOf(wallet: string, token: number): readonly [Float64Array, number] {
    const tokens = this.#places.get(wallet) ?? new Map<number, number>();
    this.#places.set(wallet, tokens);
    let place = tokens.get(token);
    if (place === undefined) {
      place = this.#count;
      this.#count += 1;
      tokens.set(token, place);
    }
    const piece = Math.floor(place / pieceLength);
    const cells = this.#pieces[piece] ?? new Float64Array(pieceLength * cellsEach);
    this.#pieces[piece] = cells;
    return [cells, (place % pieceLength) * cellsEach];
  }
}

function addTo(cells: Float64Array, index: number, change: number): void {
  cells[index] = (cells[index] ?? 0) + change;
}

/** cost x sold / held, rounded down; all of it goes with the last share. */
function shareOf(costMicro: number, soldMicro: number, heldMicro: number): number {
  if (soldMicro >= heldMicro) return costMicro;
  return Number((BigInt(costMicro) * BigInt(soldMicro)) / BigInt(heldMicro));
}
