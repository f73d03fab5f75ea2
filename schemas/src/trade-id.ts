import { keccak_256 } from '@noble/hashes/sha3.js';

/** The place of a fill in the log: the record of `orders` that caused it, and its index among that record's events. */
export interface FillPlace {
  readonly partition: number;
  readonly inOffset: number | string;
  readonly eventIndex: number;
}

/** The id of a trade, the same in placement answers, trade lists and streams: it names its place in the log. */
export function tradeId({ partition, inOffset, eventIndex }: FillPlace): string {
  return `${partition}-${inOffset}-${eventIndex}`;
}

const tradeIdPattern = /^(0|[1-9]\d{0,4})-(0|[1-9]\d{0,15})-(0|[1-9]\d{0,9})$/;

/**
 * Largest partition and event index that tables hold (UInt16, UInt32): a larger number would be taken for another one
 * there.
 */
const partitionMax = 65_535;
const eventIndexMax = 4_294_967_295;

/** The place a trade id names; null when it is none. Offsets of the log are safe integers. */
export function parseTradeId(text: string): FillPlace | null {
  const match = tradeIdPattern.exec(text);
  if (match === null) return null;
  const [, first = '', inOffset = '', last = ''] = match;
  const [partition, eventIndex] = [Number(first), Number(last)];
  const isPlace =
    partition <= partitionMax &&
    eventIndex <= eventIndexMax &&
    Number.isSafeInteger(Number(inOffset));
  return isPlace ? { partition, inOffset, eventIndex } : null;
}

/** The text shown as the hash of a settlement: keccak-256 of the trade id as ASCII, 0x and 64 lower-case hex digits. */
export function tradeHash(id: string): string {
  return `0x${Buffer.from(keccak_256(Buffer.from(id, 'ascii'))).toString('hex')}`;
}
