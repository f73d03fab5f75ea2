/** Wallets from `from` to before `to`. */
export interface WalletSlice {
  readonly from: string;
  readonly to: string;
}

/** Approximate number of positions that one statement reads: its memory and its time follow from it. */
const positionsAtOnce = 1_000_000;
/** Slices are cut by the first two digits of a wallet. */
const slicesMax = 256;
/** After every wallet. */
const end = '0xg';

/** All wallets in as many ranges as the number of positions needs; addresses are evenly distributed. */
export function walletSlices(
  positions: number,
  atOnce: number = positionsAtOnce,
): readonly WalletSlice[] {
  const count = Math.min(slicesMax, Math.max(1, Math.ceil(positions / atOnce)));
  const start = (index: number): string => {
    if (index === count) return end;
    const digits = Math.floor((index * slicesMax) / count);
    return `0x${digits.toString(16).padStart(2, '0')}`;
  };
  return Array.from({ length: count }, (_, index) => ({
    from: start(index),
    to: start(index + 1),
  }));
}
