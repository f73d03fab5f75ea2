import { effect, type Signal, signal } from '@preact/signals';
import { getJson } from '../api.ts';
import { type Book, bookOfWire, changedBook, emptyBook, type Level } from '../market/ladder.ts';
import type { Message } from './frames.ts';
import { stream, streamState } from './stream.ts';

/** A trade as the tape shows it, in terms of its token. */
export interface TapeTrade {
  readonly id: string;
  readonly timeSeconds: number;
  /** 0 or 1. */
  readonly outcome: number;
  readonly side: 'BUY' | 'SELL';
  readonly price: string;
  readonly size: string;
}

/** Pauses between reads while there is no stream, milliseconds. */
const bookEveryMs = 500;
const tapeEveryMs = 1_000;
const tapeMax = 60;
/** The pause after a failure is no longer than this, milliseconds. */
const afterFailureMs = 2_000;

/**
 * Reads at once, and then in rounds while `isNeeded`; a page that is not shown reads nothing. Failures are left to the
 * next round. What comes after the end is not used: it belongs to another place or search.
 */
export function inRounds<T>(
  everyMs: number,
  read: () => Promise<T>,
  use: (value: T) => void,
  isNeeded = () => true,
): () => void {
  let isOver = false;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const round = async (isFirst: boolean): Promise<void> => {
    let pauseMs = everyMs;
    if (isFirst || (isNeeded() && !document.hidden)) {
      try {
        const value = await read();
        if (!isOver) use(value);
      } catch {
        pauseMs = Math.min(everyMs, afterFailureMs);
      }
    }
    if (!isOver) timer = setTimeout(() => void round(false), pauseMs);
  };
  void round(true);
  return () => {
    isOver = true;
    clearTimeout(timer);
  };
}

const isStreamless = () => streamState.value !== 'live';

interface WireBook {
  readonly bids: readonly Level[];
  readonly asks: readonly Level[];
}

/** The book of a token as it is; null until the first is there. */
export function followBook(token: string): { readonly book: Signal<Book | null>; stop(): void } {
  const book = signal<Book | null>(null);
  const unsubscribe = stream.subscribe({ channel: 'book', key: token }, (message) => {
    if (message.type === 'snapshot') book.value = bookOfWire(sidesOf(message));
    else book.value = changedBook(book.value ?? emptyBook, message.levels ?? []);
  });
  const stopRounds = inRounds(
    bookEveryMs,
    () => getJson<WireBook>('/book', { token_id: token }),
    (read) => {
      if (isStreamless() || book.value === null) book.value = bookOfWire(read);
    },
    isStreamless,
  );
  return {
    book,
    stop() {
      unsubscribe();
      stopRounds();
    },
  };
}

const sidesOf = ({ bids = [], asks = [] }: Message) => ({ bids, asks });

interface WireTrade {
  readonly side: 'BUY' | 'SELL';
  readonly size: number;
  readonly price: number;
  readonly timestamp: number;
  readonly outcomeIndex: number;
  readonly transactionHash: string;
}

type TradeMessage = Message & {
  readonly transaction_hash: string;
  readonly token: string;
  readonly side: 'BUY' | 'SELL';
  readonly price: string;
  readonly size: string;
};

/** Trades of a market, newest first. */
export function followTape(
  market: { readonly conditionId: string; readonly tokens: readonly string[] },
  onTrade: (trade: TapeTrade) => void,
): { readonly tape: Signal<readonly TapeTrade[]>; stop(): void } {
  const tape = signal<readonly TapeTrade[]>([]);
  const add = (trades: readonly TapeTrade[], isNew: boolean): void => {
    const known = new Set(tape.value.map(({ id }) => id));
    const fresh = trades.filter(({ id }) => !known.has(id));
    if (fresh.length === 0) return;
    const all = [...fresh, ...tape.value].sort((one, other) => other.timeSeconds - one.timeSeconds);
    tape.value = all.slice(0, tapeMax);
    if (isNew) for (const trade of [...fresh].reverse()) onTrade(trade);
  };
  const key = market.conditionId;
  const unsubscribe = stream.subscribe({ channel: 'trades', key }, (message) => {
    if (message.type === 'event')
      add([tradeOfMessage(message as TradeMessage, market.tokens)], true);
  });
  let isFirst = true;
  const stopRounds = inRounds(
    tapeEveryMs,
    () => getJson<readonly WireTrade[]>('/trades', { market: key, limit: tapeMax }),
    (read) => {
      add(read.map(tradeOfWire), !isFirst);
      isFirst = false;
    },
    () => isFirst || isStreamless(),
  );
  return {
    tape,
    stop() {
      unsubscribe();
      stopRounds();
    },
  };
}

function tradeOfWire(wire: WireTrade): TapeTrade {
  return {
    id: idOf(wire.transactionHash, wire.size),
    timeSeconds: wire.timestamp,
    outcome: wire.outcomeIndex,
    side: wire.side,
    price: String(wire.price),
    size: String(wire.size),
  };
}

function tradeOfMessage(message: TradeMessage, tokens: readonly string[]): TapeTrade {
  return {
    id: idOf(message.transaction_hash, Number(message.size)),
    timeSeconds: Math.floor(message.time / 1000),
    outcome: Math.max(0, tokens.indexOf(message.token)),
    side: message.side,
    price: message.price,
    size: message.size,
  };
}

const idOf = (hash: string, size: number) => `${hash} ${size}`;

/** Calls `read` at once, on every message of the own channel, and in rounds while there is no stream. */
export function followOwn(read: () => Promise<void>): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const soon = (): void => {
    clearTimeout(timer);
    timer = setTimeout(() => void read().catch(() => undefined), 150);
  };
  const unsubscribe = stream.subscribe({ channel: 'own', key: '' }, soon);
  const stopRounds = inRounds(2_500, read, () => undefined);
  const stopEffect = effect(() => {
    if (streamState.value === 'live') soon();
  });
  return () => {
    clearTimeout(timer);
    unsubscribe();
    stopRounds();
    stopEffect();
  };
}
