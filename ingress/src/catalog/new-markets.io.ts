import type { NewestRecords } from '@pm/kit/kafka';

/** Reads the entries of the catalog that are there at the call, within a second; false where that fails. */
export type NewMarkets = Pick<NewestRecords, 'settle'>;

/**
 * Reads what a request asks for by the entries of the catalog that this process knows, and again with the newest ones
 * where it names something that is unknown: an operator has perhaps just listed it, and the client has it from a
 * process that has read further.
 */
export async function readWithNewMarkets<T>(
  read: () => T,
  namesUnknown: (found: T) => boolean,
  newMarkets: NewMarkets,
): Promise<T> {
  const found = read();
  if (!namesUnknown(found)) return found;
  await newMarkets.settle();
  return read();
}
