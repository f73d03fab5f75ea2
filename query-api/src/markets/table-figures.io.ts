import { noVolume, type PriceMoves, type TableFigures } from '@pm/domain/markets/figures';
import { BookMarks, type PastBooks } from './book-marks.io.ts';
import { movesSince } from './price-moves.ts';
import type { MarkedTables } from './table-marks.io.ts';
import { type TapeFigures, VolumeSums } from './volumes.io.ts';

/** Volumes and moves of prices of all markets, out of tables. */
export class TableFigureReads {
  readonly #volumes: VolumeSums;
  readonly #books: BookMarks;

  constructor(options: MarkedTables) {
    this.#volumes = new VolumeSums(options);
    this.#books = new BookMarks(options);
  }

  /** One call at a time. Throws the faults of ClickHouse. */
  async read(nowMs: number): Promise<TableFigures> {
    const tape = await this.#volumes.read(nowMs);
    const books = await this.#books.read(nowMs);
    const markets = new Set([...tape.keys(), ...books.keys()]);
    return new Map(
      [...markets].map((market) => {
        const traded = tape.get(market);
        const moves = movesOf(books.get(market), traded);
        return [market, { ...(traded?.volume ?? noVolume), moves }];
      }),
    );
  }
}

function movesOf(books: PastBooks | undefined, traded: TapeFigures | undefined): PriceMoves {
  const at = (moment: keyof PastBooks) => ({
    book: books?.[moment] ?? null,
    trade: traded?.trades[moment] ?? null,
  });
  return movesSince(at('now'), { day: at('day'), week: at('week'), month: at('month') });
}
