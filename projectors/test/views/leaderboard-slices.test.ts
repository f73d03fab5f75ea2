import { walletSlices } from '../../src/views/leaderboard/slices.ts';

describe('slices of wallets', () => {
  test('follow each other without a gap, from the first wallet to after the last', () => {
    for (const positions of [0, 1, 1_000_000, 2_500_000, 17_000_000, 5_000_000_000]) {
      const slices = walletSlices(positions);
      expect(slices[0]?.from).toBe('0x00');
      expect(`0x${'f'.repeat(40)}` < (slices.at(-1)?.to ?? '')).toBe(true);
      for (const [index, { from, to }] of slices.entries()) {
        expect(from < to).toBe(true);
        if (index > 0) expect(slices[index - 1]?.to).toBe(from);
      }
    }
  });

  test('are one for few positions, and at most one for each pair of first digits', () => {
    expect(walletSlices(12)).toHaveLength(1);
    expect(walletSlices(12_000_000)).toHaveLength(12);
    expect(walletSlices(5_000_000_000)).toHaveLength(256);
  });
});
