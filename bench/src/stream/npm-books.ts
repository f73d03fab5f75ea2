import { type IProcessOrder, type LimitOrderOptions, OrderBook, Side } from 'nodejs-order-book';
import type { Outcome } from './outcome.ts';
import type { PlainCommand } from './plain.ts';

type TimeInForce = NonNullable<LimitOrderOptions['timeInForce']>;

/** The package declares this enum and does not export it. */
const restsUntilCanceled = 'GTC' as TimeInForce;
const takesAndLeaves = 'IOC' as TimeInForce;

/** A command with ready-made options, so that the engine is not charged for making them. */
export type NpmCommand =
  | { readonly kind: 'cancel'; readonly book: number; readonly id: string }
  | { readonly kind: 'limit'; readonly book: number; readonly options: LimitOrderOptions };

export function npmCommand(plain: PlainCommand): NpmCommand {
  const { book } = plain;
  const id = String(plain.id);
  if (plain.kind === 'cancel') return { kind: 'cancel', book, id };
  const options: LimitOrderOptions = {
    id,
    side: plain.isBid ? Side.BUY : Side.SELL,
    price: plain.price,
    size: plain.lots,
    timeInForce: plain.kind === 'add' ? restsUntilCanceled : takesAndLeaves,
  };
  return { kind: 'limit', book, options };
}

/** A book engine from npm. */
export interface NpmEngine {
  readonly name: string;
  readonly OrderBook: typeof OrderBook;
}

/** Both engines; the second is left out, with a line, where it is not installed. */
export async function npmEngines(): Promise<NpmEngine[]> {
  const engines: NpmEngine[] = [{ name: 'nodejs-order-book 10.1.1', OrderBook }];
  try {
    const older = await import('hft-limit-order-book');
    engines.push({ name: 'hft-limit-order-book 7.0.2', OrderBook: older.OrderBook });
  } catch {
    console.log('hft-limit-order-book is not installed (npm install), so it is left out');
  }
  return engines;
}

/** One npm book for each of ours. */
export class NpmBooks {
  readonly #books: OrderBook[];

  constructor(engine: NpmEngine, books: number) {
    this.#books = Array.from({ length: books }, () => new engine.OrderBook());
  }

  run(command: NpmCommand): IProcessOrder | null {
    const book = this.#books[command.book];
    if (book === undefined) throw new RangeError('no such book');
    if (command.kind === 'limit') return book.limit(command.options);
    book.cancel(command.id);
    return null;
  }

  /** Every level that rests, as text: book, side, price, lots; sorted. */
  levels(): string[] {
    const levels = this.#books.flatMap((book, index) => {
      const [asks, bids] = book.depth();
      const side = (name: string, all: typeof asks) =>
        all.map(([price, lots]) => `${index} ${name} ${price} ${lots}`);
      return [...side('ask', asks), ...side('bid', bids)];
    });
    return levels.sort();
  }
}

/** The fills of a result: every finished or reduced order in it except the taker. */
export function countNpm(
  outcome: Outcome,
  command: NpmCommand,
  answer: IProcessOrder | null,
): void {
  if (answer === null || command.kind === 'cancel') return;
  const { id, size } = command.options;
  if (answer.err !== null) {
    outcome.refused += 1;
    outcome.codes.add(answer.err.message);
  }
  outcome.fills += answer.done.filter((order) => order.id !== id).length;
  if (answer.partial !== null && answer.partial.id !== id) outcome.fills += 1;
  outcome.volume += size - answer.quantityLeft;
}
