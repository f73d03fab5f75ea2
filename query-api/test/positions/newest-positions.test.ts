import fc from 'fast-check';
import { foldPositions, type StoredPosition } from '../../src/positions/newest-positions.ts';
import { type HoldingChange, rowsOfRecord } from '../../src/recent/record-rows.ts';
import { TinyLog } from '../recent/log.ts';

const noPayout = () => null;

/**
 * Changes of the tokens of every wallet in a log, in its order; each wallet first buys tokens, so that it can sell
 * them.
 */
function changesOf(seed: number): ReadonlyMap<string, readonly HoldingChange[]> {
  const byWallet = new Map<string, HoldingChange[]>();
  for (const record of new TinyLog(seed).records(60))
    for (const change of rowsOfRecord(0, record).holdings) {
      const known = byWallet.get(change.wallet) ?? [];
      byWallet.set(change.wallet, [...known, change]);
    }
  return new Map([...byWallet].map(([wallet, changes]) => [wallet, funded(changes)]));
}

function funded(changes: readonly HoldingChange[]): readonly HoldingChange[] {
  const tokens = new Map(changes.map((one) => [`${one.market}:${one.outcome}`, one]));
  const bought = [...tokens.values()].map((one) => ({
    ...one,
    inOffset: -1,
    changeMicro: 1_000_000_000_000,
    price: 4_000,
  }));
  return [...bought, ...changes];
}

test('tables up to anywhere and memory from anywhere before that are the whole log', () => {
  const cut = fc.nat({ max: 70 });
  fc.assert(
    fc.property(fc.nat({ max: 50 }), cut, cut, (seed, stored, back) => {
      for (const changes of changesOf(seed).values()) {
        const before = changes.filter(({ inOffset }) => inOffset < stored);
        const cutoverOffset = Math.max(0, stored - back);
        const recent = changes.filter(({ inOffset }) => inOffset >= cutoverOffset);
        const tables = foldPositions([], before, noPayout) as readonly StoredPosition[];
        const joined = foldPositions(tables, recent, noPayout);
        const whole = foldPositions([], changes, noPayout);
        const sorted = (rows: typeof whole) =>
          [...rows].sort((one, other) => one.market - other.market || one.outcome - other.outcome);
        if (stored > 0) expect(sorted(joined)).toEqual(sorted(whole));
      }
    }),
    { numRuns: 40 },
  );
});

test('tokens of a resolved market that are redeemed in pairs are paid by its resolution', () => {
  const place = { partition: 0, eventIndex: 0, timeMs: 0 } as const;
  const own = { ...place, wallet: '0x', market: 1, cause: 'REDEEM' } as const;
  const changes = [
    { ...own, outcome: 0, inOffset: 1, changeMicro: 10_000_000, price: 5_000 },
    { ...own, outcome: 0, inOffset: 2, changeMicro: -10_000_000, price: null },
  ] as const;
  const [row] = foldPositions([], changes, () => 10_000);
  expect(row).toMatchObject({ sizeMicro: 0, costMicro: 0, realizedMicro: 5_000_000 });
});
