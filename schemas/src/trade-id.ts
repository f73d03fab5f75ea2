import { keccak_256 } from '@noble/hashes/sha3.js';

/** Where a fill stands in the log: the record of `orders` that caused it, and its index among that record's events. */
export interface FillPlace {
  readonly partition: number;
  readonly inOffset: number | string;
  readonly eventIndex: number;
}

/** The id of a trade, the same in placement answers, trade lists and streams: it names its place in the log. */
export function tradeId({ partition, inOffset, eventIndex }: FillPlace): string {
  return `${partition}-${inOffset}-${eventIndex}`;
}

/** Offsets below 10^16 and indexes below 10^10 only: nothing longer is a place of the log. */
const tradeIdPattern = /^(0|[1-9]\d{0,4})-(0|[1-9]\d{0,15})-(0|[1-9]\d{0,9})$/;

/** The place a trade id names; null when it is none. */
export function parseTradeId(text: string): FillPlace | null {
  const match = tradeIdPattern.exec(text);
  if (match === null) return null;
  const [, partition = '', inOffset = '', eventIndex = ''] = match;
  return { partition: Number(partition), inOffset, eventIndex: Number(eventIndex) };
}

/** What stands for the hash of a settlement: keccak-256 of the trade id as ASCII, 0x and 64 lower-case hex digits. */
export function tradeHash(id: string): string {
  return `0x${Buffer.from(keccak_256(Buffer.from(id, 'ascii'))).toString('hex')}`;
}
