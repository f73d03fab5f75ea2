import { orderIdFromBytes, walletFromBytes } from '@pm/schemas/ids';
import type { ExecutionEvent } from '@pm/schemas/log/executions';
import type { RefusalCode } from '@pm/schemas/refusals';
import { bytesOf } from '../../../kit/test/seeded.ts';
import { moneyPieces } from '../../src/ledger/pieces.ts';
import { executionOf } from '../log.ts';

const move = (wallet: number, freeMicro: number) =>
  ({ kind: 'MoneyMoved', wallet: bytesOf(20, wallet), freeMicro, heldMicro: -freeMicro }) as const;
const refusal = (order: number) =>
  ({
    kind: 'OrderRefused',
    command: 0,
    orderId: bytesOf(32, order),
    market: 1,
    maker: bytesOf(20, 1),
    apiKey: bytesOf(16, 1),
    code: 'unknown',
  }) as const;

describe('money pieces', () => {
  test('carry answers, moves and the clock of their records', () => {
    const records = [
      { offset: 4, execution: executionOf(4, [refusal(1), move(1, 5)], 100) },
      { offset: 5, execution: null },
      { offset: 6, execution: executionOf(5, [move(2, -7)], 200) },
    ];
    expect(moneyPieces(records, 10)).toEqual([
      {
        fromOffset: 4,
        toOffset: 7,
        clockMs: 200,
        answered: [orderIdFromBytes(bytesOf(32, 1))],
        moves: [
          { wallet: walletFromBytes(bytesOf(20, 1)), freeMicro: 5, heldMicro: -5 },
          { wallet: walletFromBytes(bytesOf(20, 2)), freeMicro: -7, heldMicro: 7 },
        ],
        markets: [],
        generation: 0,
      },
    ]);
  });

  test('answer a delayed order, whose money is held from then on', () => {
    const delayed = {
      kind: 'OrderDelayed',
      command: 0,
      orderId: bytesOf(32, 7),
      market: 1,
      outcome: 0,
      side: 'BUY',
      timeInForce: 'FAK',
      price: 5_000,
      sizeMicro: 10,
      expiresAtMs: 0,
      acceptedAtMs: 0,
      releaseAtMs: 1,
      maker: bytesOf(20, 1),
      apiKey: bytesOf(16, 1),
      heldMicro: 5,
    } as const;
    const [piece] = moneyPieces([{ offset: 0, execution: executionOf(0, [delayed]) }], 10);
    expect(piece?.answered).toEqual([orderIdFromBytes(bytesOf(32, 7))]);
  });

  test('carry the newest generation that begins in them', () => {
    const begin = (generation: number) =>
      ({ kind: 'GenerationStarted', command: 0, generation }) as const;
    const records = [
      { offset: 0, execution: executionOf(0, [begin(2)]) },
      { offset: 1, execution: executionOf(1, [begin(3), refusal(1)]) },
      { offset: 2, execution: null },
    ];
    expect(moneyPieces(records, 10)).toMatchObject([{ toOffset: 3, generation: 3 }]);
  });

  test('answer requests of splits, carried out or refused', () => {
    const sums = { market: 1, token0Micro: 1, token1Micro: 1, paidMicro: -1 };
    const moved = {
      kind: 'PositionMoved',
      command: 0,
      action: 'SPLIT',
      wallet: bytesOf(20, 1),
      ...sums,
      requestId: bytesOf(32, 8),
    } as const;
    const code = 'market_resolved';
    const refused = {
      kind: 'CommandRefused',
      command: 1,
      code,
      requestId: bytesOf(32, 9),
    } as const;
    const events = [moved, refused, { ...refused, requestId: null }];
    const [piece] = moneyPieces([{ offset: 0, execution: executionOf(0, events) }], 10);
    expect(piece?.answered).toEqual([8, 9].map((id) => orderIdFromBytes(bytesOf(32, id))));
  });

  test('skip refusals of stale records, whose ids newer ones may use', () => {
    const split = (code: RefusalCode) =>
      ({ kind: 'CommandRefused', command: 0, code, requestId: bytesOf(32, 8) }) as const;
    const answeredBy = (event: ExecutionEvent) =>
      moneyPieces([{ offset: 0, execution: executionOf(0, [event], 1) }], 10)[0]?.answered;
    for (const code of ['too_late', 'old_generation'] as const)
      expect(answeredBy(split(code))).toEqual([]);
    expect(answeredBy(split('market_resolved'))).toHaveLength(1);
    expect(answeredBy({ ...refusal(1), code: 'old_generation' })).toEqual([]);
    // The matcher remembers this one of an order, so no record of it can be booked any more.
    expect(answeredBy({ ...refusal(1), code: 'too_late' })).toHaveLength(1);
  });

  test('leave a record beyond the limit alone, whatever its neighbours are', () => {
    const big = executionOf(1, [move(1, 1), move(2, 1), move(3, 1)]);
    const records = [executionOf(0, [move(1, 1)]), big, executionOf(2, [])].map(
      (execution, offset) => ({ offset, execution }),
    );
    const spans = (from: number) =>
      moneyPieces(records.slice(from), 2).map((piece) => [piece.fromOffset, piece.toOffset]);
    expect(spans(0)).toEqual([
      [0, 1],
      [1, 2],
      [2, 3],
    ]);
    expect(spans(1)).toEqual([
      [1, 2],
      [2, 3],
    ]);
  });
});
