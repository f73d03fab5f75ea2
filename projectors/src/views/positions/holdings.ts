import { emptyPosition, type Position } from '@pm/domain/positions/position';
import { hexBytes, walletFromBytes } from '@pm/schemas/ids';

/** All positions of one partition, looked up by the bytes of the wallet: a known wallet is never converted to text. */
export class Holdings {
  readonly #wallets = new Map<string, Map<number, Position>>();

  constructor(restored: Iterable<Position>) {
    for (const position of restored)
      this.#tokensOf(hexBytes(position.wallet)).set(tokenNumber(position), { ...position });
  }

  /** The position; an empty one when it is new. */
  of(wallet: Buffer, market: number, outcome: number): Position {
    const tokens = this.#tokensOf(wallet);
    const token = tokenNumber({ market, outcome });
    const known = tokens.get(token);
    if (known !== undefined) return known;
    const fresh = emptyPosition(walletFromBytes(wallet), market, outcome);
    tokens.set(token, fresh);
    return fresh;
  }

  #tokensOf(wallet: Buffer): Map<number, Position> {
    const name = wallet.toString('latin1');
    const known = this.#wallets.get(name);
    if (known !== undefined) return known;
    const fresh = new Map<number, Position>();
    this.#wallets.set(name, fresh);
    return fresh;
  }
}

function tokenNumber({ market, outcome }: { market: number; outcome: number }): number {
  return market * 2 + outcome;
}
