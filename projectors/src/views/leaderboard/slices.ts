/** Wallets from `from` on and before `to`. */
export interface WalletSlice {
  readonly from: string;
  readonly to: string;
}

/** Positions that one statement reads, more or less: what it holds in memory and how long it takes follow from that. */
const positionsAtOnce = 1_000_000;
/** Slices go by the first two digits of a wallet. */
const SLICES_MAX = 256;
/** Behind every wallet. */
const END = '0xg';

/** All wallets, cut into as many ranges as the positions ask for; addresses lie evenly. */
export function walletSlices(
  positions: number,
  atOnce: number = positionsAtOnce,
): readonly WalletSlice[] {
  const count = Math.min(SLICES_MAX, Math.max(1, Math.ceil(positions / atOnce)));
  const start = (index: number): string => {
    if (index === count) return END;
    const digits = Math.floor((index * SLICES_MAX) / count);
    return `0x${digits.toString(16).padStart(2, '0')}`;
  };
  return Array.from({ length: count }, (_, index) => ({
    from: start(index),
    to: start(index + 1),
  }));
}
