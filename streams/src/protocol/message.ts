import type { LogPosition } from '../feed/changes.ts';
import type { BestPrices } from '../feed/snapshots.ts';

/** Levels of a token that deltas changed: `BUY` or `SELL` and the price, with the new total in micro-shares. */
export type TokenLevels = ReadonlyMap<string, number>;

/** Changed levels or best prices of a delta, with which a queue can merge it with later deltas of its key. */
export type MergeContent =
  | { readonly channel: 'book'; readonly levels: TokenLevels }
  | { readonly channel: 'best'; readonly best: BestPrices };

/** The key of a channel as messages name it. */
export interface StreamKey {
  /** Names the publication: channel and key. */
  readonly id: string;
  readonly condition: string;
  /** Token of `book` and `best`; empty elsewhere. */
  readonly token: string;
  readonly outcome: 0 | 1;
}

/** A message of a key, serialised once for all its readers. */
export interface Message {
  readonly bytes: Buffer;
  readonly seq: number;
  readonly prev: number;
  readonly at: LogPosition;
  readonly key: StreamKey;
  /** Null for what cannot be merged. */
  readonly content: MergeContent | null;
  /** A checksum says nothing once the deltas around it are merged. */
  readonly isChecksum: boolean;
  /** A part of a snapshot that is not its last: with it alone the state is not known. */
  readonly isPart?: boolean;
}

/** First messages of a subscription; each message is made when it is sent. */
export interface FirstMessages {
  /** Number of the newest message of the key: those after it follow live. */
  readonly seq: number;
  readonly count: number;
  /** Null for one that is not shown. */
  message(index: number): Message | null;
}

/** One message. */
export function firstMessage(message: Message): FirstMessages {
  return { seq: message.seq, count: 1, message: () => message };
}
