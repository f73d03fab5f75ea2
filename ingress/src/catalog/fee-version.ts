import type { CatalogMarket } from '@pm/schemas';

const firstVersion = 1;

/** What the wire calls the fee schedule of a market; its version counts the changes of these. */
type FeeSchedule = Pick<CatalogMarket, 'feeRateBps' | 'rebateBps'>;

/** The version of a schedule that is to be listed: one more than that of the listed one if it differs. A new market has the first. */
export function feeVersionOf(
  known: (FeeSchedule & Pick<CatalogMarket, 'feeVersion'>) | undefined,
  { feeRateBps, rebateBps }: FeeSchedule,
): number {
  if (known === undefined) return firstVersion;
  const isSame = known.feeRateBps === feeRateBps && known.rebateBps === rebateBps;
  return isSame ? known.feeVersion : known.feeVersion + 1;
}
