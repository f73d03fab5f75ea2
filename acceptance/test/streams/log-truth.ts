import { createHash } from 'node:crypto';
import { feeWalletOf, type LogPlace } from '@pm/deploy/installation/fee-wallet';
import { LogAudit } from '@pm/operate/audit/log-audit';
import { auditPieces, piecesOf } from '@pm/operate/audit/read-log';
import { microText, priceText } from '@pm/schemas/decimal';
import { type BookLevelText, sidesOfToken } from '@pm/schemas/http/book-hash';
import { orderIdFromBytes, walletFromBytes } from '@pm/schemas/ids';
import type { Execution, Fill } from '@pm/schemas/log/executions';
import { tradeId } from '@pm/schemas/trade-id';
import type { ListedMarket } from '../whole-exchange.ts';

/** SHA-1 of all levels of a book, in the order of `GET /book`. */
export function levelsHash(bids: readonly BookLevelText[], asks: readonly BookLevelText[]): string {
  const texts = [bids, asks].map((side) => side.map(({ price, size }) => `${price} ${size}`));
  return createHash('sha1').update(JSON.stringify(texts)).digest('hex');
}

const emptyBook = levelsHash([], []);

/** A fill as both the log and the channel `own` state it; with its place, so that order matters. */
export interface OwnFillText {
  readonly partition: number;
  readonly text: string;
}

interface BookAt {
  readonly offset: number;
  readonly hash: string;
}

/** Books of every token after every record, and the fills of every wallet, as the log alone has them. */
export class LogTruth {
  readonly audit: LogAudit;
  /** Token -> its book after each record that changed it. */
  readonly #books = new Map<string, BookAt[]>();
  readonly #fills = new Map<string, OwnFillText[]>();
  readonly #markets: ReadonlyMap<number, ListedMarket>;

  private constructor(audit: LogAudit, markets: readonly ListedMarket[]) {
    this.audit = audit;
    this.#markets = new Map(markets.map((market) => [Number(market.id), market]));
  }

  /** Reads the whole log up to its present end. */
  static async read(log: LogPlace, markets: readonly ListedMarket[]): Promise<LogTruth> {
    const audit = new LogAudit(await feeWalletOf(log));
    const truth = new LogTruth(audit, markets);
    const pieces = await piecesOf(log);
    await auditPieces(log, {
      audit,
      pieces,
      onRecord: (partition, { execution }) => truth.#record(partition, execution),
    });
    audit.finish();
    return truth;
  }

  /** Hash of the book of a token as it was after the record at an input offset. */
  bookAt(token: string, offset: number): string {
    return this.#books.get(token)?.findLast((book) => book.offset <= offset)?.hash ?? emptyBook;
  }

  /** Hash of the newest book of a token. */
  newestBook(token: string): string {
    return this.#books.get(token)?.at(-1)?.hash ?? emptyBook;
  }

  /** Fills of a wallet, those of a partition in the order of the log. */
  fillsOf(wallet: string): readonly OwnFillText[] {
    return this.#fills.get(wallet) ?? [];
  }

  #record(partition: number, { events, inOffset }: Execution): void {
    const changed = new Set<number>();
    for (const [eventIndex, event] of events.entries()) {
      if (event.kind === 'LevelChanged') changed.add(event.market);
      if (event.kind === 'Fill') this.#fill(event, { partition, inOffset, eventIndex });
    }
    for (const market of changed) this.#book(market, inOffset);
  }

  #book(number: number, offset: number): void {
    const levels = this.audit.levels.get(number);
    const market = this.#markets.get(number);
    if (levels === undefined || market === undefined) return;
    const [bids, asks] = [levels.bids.sizes, levels.asks.sizes].map(sorted);
    for (const outcome of [0, 1] as const) {
      const token = market.tokenIds[outcome] ?? '';
      const sides = sidesOfToken({ bids: bids ?? [], asks: asks ?? [] }, outcome);
      const hash = levelsHash(sides.bids.map(levelText), sides.asks.map(levelText));
      const books = this.#books.get(token) ?? [];
      books.push({ offset, hash });
      this.#books.set(token, books);
    }
  }

  #fill(fill: Fill, place: { partition: number; inOffset: number; eventIndex: number }): void {
    const { partition } = place;
    const tokenOf = (outcome: number) => this.#markets.get(fill.market)?.tokenIds[outcome] ?? '';
    const shared = { id: tradeId(place), size: microText(fill.sizeMicro) };
    this.#add(walletFromBytes(fill.taker), {
      partition,
      text: fillText({
        ...shared,
        role: 'TAKER',
        order: orderIdFromBytes(fill.takerOrderId),
        token: tokenOf(fill.takerOutcome),
        side: fill.takerSide,
        price: priceText(fill.takerPrice),
        fee: microText(fill.feeMicro),
      }),
    });
    this.#add(walletFromBytes(fill.maker), {
      partition,
      text: fillText({
        ...shared,
        role: 'MAKER',
        order: orderIdFromBytes(fill.makerOrderId),
        token: tokenOf(fill.makerOutcome),
        side: fill.makerSide,
        price: priceText(fill.makerPrice),
        fee: '0',
      }),
    });
  }

  #add(wallet: string, fill: OwnFillText): void {
    const known = this.#fills.get(wallet) ?? [];
    known.push(fill);
    this.#fills.set(wallet, known);
  }
}

/** One line with everything that a fill of the channel `own` says. */
export function fillText(fill: {
  readonly id: string;
  readonly role: string;
  readonly order: string;
  readonly token: string;
  readonly side: string;
  readonly price: string;
  readonly size: string;
  readonly fee: string;
}): string {
  const { id, role, order, token, side, price, size, fee } = fill;
  return [id, role, order, token, side, price, size, fee].join(' ');
}

function sorted(sizes: ReadonlyMap<number, number>) {
  const levels = [...sizes].map(([price, sizeMicro]) => ({ price, sizeMicro }));
  return levels.sort((one, other) => one.price - other.price);
}

function levelText({ price, sizeMicro }: { price: number; sizeMicro: number }): BookLevelText {
  return { price: priceText(price), size: microText(sizeMicro) };
}
