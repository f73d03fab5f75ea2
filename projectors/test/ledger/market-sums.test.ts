import type { NumberedExecution } from '@pm/domain/executions/execution-order';
import { LedgerModel } from '@pm/domain/testing/ledger-model';
import { walletFromBytes } from '@pm/schemas/ids';
import { runLength, seedsFrom } from '../../../kit/test/long-runs.ts';
import { bytesOf } from '../../../kit/test/seeded.ts';
import { Engine } from '../../../matcher/src/core/index.ts';
import { envelopeOf, opening, partition } from '../../../matcher/test/core/commands.ts';
import { RandomLog } from '../../../matcher/test/core/random-log.ts';
import { MarketSums } from '../../src/ledger/market-sums.ts';
import { moneyPieces } from '../../src/ledger/pieces.ts';
import { executionOf, fillOf, moved } from '../log.ts';

/** The records of a seeded log that visits every rule of the core. */
function recordsOf(seed: number, count: number) {
  const engine = new Engine(partition);
  const log = new RandomLog(seed);
  const envelopes = [envelopeOf([opening], 'OPERATOR')];
  while (envelopes.length < count) envelopes.push(log.next().envelope);
  return envelopes.map((envelope, inOffset) => {
    const { events, timeMs } = engine.apply(envelope, inOffset);
    const execution = { chain: Buffer.alloc(32), keyId: Buffer.alloc(8), sequence: 0 };
    return { offset: inOffset, execution: { ...execution, inOffset, timeMs, events } };
  });
}

/** Markets that do not add up by these records, cut into pieces of any size. */
function breachesOf(records: readonly NumberedExecution[], itemsMax: number) {
  const ledger = new LedgerModel();
  for (const piece of moneyPieces(records, itemsMax)) {
    const clock = { clockMs: piece.clockMs ?? 0, bookAgeLimitMs: 2_000 };
    ledger.applyExecutions({ ...piece, ...clock, partition });
  }
  return ledger.marketBreaches();
}

describe('the sums of markets', () => {
  const logs = runLength({ test: 1, deep: 3 });

  test.each(seedsFrom(41, logs))('add up in every piece of a log of the core, seed %d', (seed) => {
    const records = recordsOf(seed, 3_000);
    const kinds = new Set(
      records.flatMap(({ execution }) => execution.events.map((one) => one.kind)),
    );
    for (const kind of ['Fill', 'PositionMoved', 'MarketResolved'] as const)
      expect(kinds).toContain(kind);
    for (const itemsMax of [1, 2_000]) expect(breachesOf(records, itemsMax)).toEqual([]);
  });

  test('differ by a redemption that pays more than its tokens', () => {
    const wallet = { wallet: 1, market: 3 };
    const split = moved('SPLIT', {
      ...wallet,
      token0Micro: 2_000_000,
      token1Micro: 2_000_000,
      paidMicro: -2_000_000,
    });
    const resolved = { kind: 'MarketResolved', command: 0, market: 3, payout0: 2_500 } as const;
    const redeem = { ...wallet, token0Micro: -2_000_000, token1Micro: -2_000_000 };
    const breaches = (paidMicro: number) => {
      const redeemed = moved('REDEEM', { ...redeem, paidMicro });
      const events = [[split], [resolved], [redeemed]];
      return breachesOf(
        events.map((of, offset) => ({ offset, execution: executionOf(offset, of) })),
        1,
      );
    };
    expect(breaches(2_000_000)).toEqual([]);
    const found = breaches(2_000_010).find(({ market }) => market === '3');
    expect(found).toMatchObject({ gap0Micro: 10, suspects: [walletFromBytes(bytesOf(20, 1))] });
  });

  test('name the wallets of a record that does not add up, and no others', () => {
    const sums = new MarketSums();
    sums.add([fillOf({ market: 3, match: 'MINT', taker: 3, maker: 4 })]);
    sums.add([{ ...fillOf({ market: 3, match: 'MINT' }), makerOutcome: 0 }]);
    const change = sums.changes().find(({ market }) => market === '3');
    expect(change?.suspects).toEqual([1, 2].map((index) => walletFromBytes(bytesOf(20, index))));
  });
});
