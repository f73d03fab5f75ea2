import { Fault } from '../../src/fault/index.ts';
import { LedgerFold, orphanMarginMs, orphansPerCallMax } from '../../src/ledger/index.ts';
import { orderOf, walletOf } from './history.ts';

const wallet = walletOf(1);
const clock = { clockMs: 1_000, bookAgeLimitMs: 2_000 };
const piece = { ...clock, partition: 0, answered: [], moves: [], generation: 0 };
const hold = { wallet, amountMicro: 60, partition: 0, acceptedAtMs: 1_000 };

function openWith(freeMicro: number): LedgerFold {
  const ledger = new LedgerFold();
  ledger.applyTransfers({
    fromOffset: 0,
    toOffset: 2,
    transfers: [
      { transferId: '0x01', wallet, amountMicro: freeMicro, generation: 0 },
      { transferId: '0x00', wallet, amountMicro: 0, generation: 1 },
    ],
  });
  const plan = { id: 'first', generation: 1 };
  ledger.planRebuild(plan);
  ledger.open(plan, []);
  return ledger;
}

describe('the ledger fold', () => {
  test('reserves nothing before it is ready', () => {
    const ledger = new LedgerFold();
    expect(ledger.reserve({ ...hold, orderId: orderOf(1) }).outcome).toBe('not_ready');
  });

  test('reserves no more than is free', () => {
    const ledger = openWith(100);
    expect(ledger.reserve({ ...hold, orderId: orderOf(1) })).toEqual({
      outcome: 'reserved',
      generation: 1,
    });
    expect(ledger.reserve({ ...hold, orderId: orderOf(2) }).outcome).toBe('insufficient');
    expect(ledger.balance(wallet).availableMicro).toBe(40);
  });

  test('holds once for the same pending order', () => {
    const ledger = openWith(100);
    ledger.reserve({ ...hold, orderId: orderOf(1) });
    expect(ledger.reserve({ ...hold, orderId: orderOf(1) }).outcome).toBe('already');
    expect(ledger.balance(wallet).pendingMicro).toBe(60);
  });

  test('takes an order without money even when nothing is free', () => {
    const ledger = openWith(0);
    expect(ledger.reserve({ ...hold, amountMicro: 0, orderId: orderOf(1) }).outcome).toBe(
      'reserved',
    );
  });

  test('turns a reservation into what the log says', () => {
    const ledger = openWith(100);
    ledger.reserve({ ...hold, orderId: orderOf(1) });
    const moves = [{ wallet, freeMicro: -60, heldMicro: 60 }];
    ledger.applyExecutions({ ...piece, fromOffset: 0, toOffset: 1, answered: [orderOf(1)], moves });
    expect(ledger.balance(wallet)).toEqual({
      freeMicro: 40,
      heldMicro: 60,
      pendingMicro: 0,
      availableMicro: 40,
    });
  });

  test('changes nothing when a piece is repeated and refuses one that overlaps or leaves a gap', () => {
    const ledger = openWith(100);
    const moves = [{ wallet, freeMicro: -10, heldMicro: 10 }];
    const first = { ...piece, fromOffset: 0, toOffset: 3, moves };
    expect(ledger.applyExecutions(first)).toBe('applied');
    expect(ledger.applyExecutions(first)).toBe('repeated');
    expect(ledger.applyExecutions({ ...first, fromOffset: 1, toOffset: 2 })).toBe('repeated');
    for (const [fromOffset, toOffset] of [
      [2, 4],
      [0, 4],
      [4, 5],
    ] as const)
      expect(() => ledger.applyExecutions({ ...first, fromOffset, toOffset })).toThrow(Fault);
    expect(ledger.balance(wallet).freeMicro).toBe(90);
    expect(ledger.mark('executions', 0)).toBe(3);
  });

  test('adds a transfer that the log repeats once', () => {
    const ledger = openWith(100);
    const transfers = [
      { transferId: '0x02', wallet, amountMicro: 5, generation: 0 },
      { transferId: '0x02', wallet, amountMicro: 5, generation: 0 },
      { transferId: '0x01', wallet, amountMicro: 100, generation: 0 },
    ];
    ledger.applyTransfers({ fromOffset: 2, toOffset: 5, transfers });
    expect(ledger.balance(wallet).freeMicro).toBe(105);
  });

  test('holds for a withdrawal until its record is applied, and never again after', () => {
    const ledger = openWith(100);
    const withdrawal = { transferId: '0x09', wallet, amountMicro: 60, acceptedAtMs: 1_000 };
    expect(ledger.reserveWithdrawal(withdrawal)).toEqual({ outcome: 'reserved', generation: 1 });
    expect(ledger.reserveWithdrawal(withdrawal).outcome).toBe('already');
    expect(ledger.reserveWithdrawal({ ...withdrawal, transferId: '0x0a' }).outcome).toBe(
      'insufficient',
    );
    const written = { transferId: '0x09', wallet, amountMicro: -60, generation: 1 };
    ledger.applyTransfers({ fromOffset: 2, toOffset: 4, transfers: [written, written] });
    expect(ledger.balance(wallet)).toMatchObject({ freeMicro: 40, pendingMicro: 0 });
    expect(ledger.reserveWithdrawal(withdrawal).outcome).toBe('applied');
  });

  test('a withdrawal behind the fence of a newer generation is void and releases its hold', () => {
    const ledger = openWith(100);
    ledger.reserveWithdrawal({ transferId: '0x09', wallet, amountMicro: 60, acceptedAtMs: 1_000 });
    const fence = { transferId: '0x00', wallet, amountMicro: 0, generation: 2 };
    const late = { transferId: '0x09', wallet, amountMicro: -60, generation: 1 };
    ledger.applyTransfers({ fromOffset: 2, toOffset: 4, transfers: [fence, late] });
    expect(ledger.balance(wallet)).toMatchObject({ freeMicro: 100, pendingMicro: 0 });
  });

  test('releases withdrawals that were accepted before a time, and no orders', () => {
    const ledger = openWith(100);
    ledger.reserve({ ...hold, orderId: orderOf(1) });
    ledger.reserveWithdrawal({ transferId: '0x09', wallet, amountMicro: 20, acceptedAtMs: 500 });
    expect(ledger.releaseWithdrawals(500)).toBe(0);
    expect(ledger.releaseWithdrawals(1_000_000)).toBe(1);
    expect(ledger.balance(wallet).pendingMicro).toBe(60);
  });

  test('releases a hold only once the clock proves that its order can never be booked', () => {
    const ledger = openWith(100);
    ledger.reserve({ ...hold, orderId: orderOf(1) });
    const lastMs = hold.acceptedAtMs + piece.bookAgeLimitMs + orphanMarginMs;
    ledger.applyExecutions({ ...piece, fromOffset: 0, toOffset: 1, clockMs: lastMs });
    expect(ledger.balance(wallet).pendingMicro).toBe(60);
    ledger.applyExecutions({
      ...piece,
      partition: 1,
      fromOffset: 0,
      toOffset: 1,
      clockMs: lastMs + 1,
    });
    expect(ledger.balance(wallet).pendingMicro).toBe(60);
    ledger.applyExecutions({ ...piece, fromOffset: 1, toOffset: 2, clockMs: lastMs + 1 });
    expect(ledger.balance(wallet).pendingMicro).toBe(0);
  });

  test('releases no more orphans at once than the limit', () => {
    const ledger = openWith(10_000);
    for (let order = 0; order < orphansPerCallMax + 3; order += 1)
      ledger.reserve({ ...hold, amountMicro: 1, orderId: orderOf(order) });
    ledger.applyExecutions({ ...piece, fromOffset: 0, toOffset: 1, clockMs: 1_000_000 });
    expect(ledger.balance(wallet).pendingMicro).toBe(3);
  });

  test('refuses a balance beyond 2^53 and stays as it was', () => {
    const ledger = openWith(Number.MAX_SAFE_INTEGER);
    const moves = [
      { wallet: walletOf(2), freeMicro: 1, heldMicro: 0 },
      { wallet, freeMicro: 1, heldMicro: 0 },
    ];
    expect(() => ledger.applyExecutions({ ...piece, fromOffset: 0, toOffset: 1, moves })).toThrow(
      'ledger_overflow',
    );
    expect(ledger.balance(walletOf(2)).freeMicro).toBe(0);
    expect(ledger.mark('executions', 0)).toBe(0);
  });

  test('gives a cancelled reservation back once', () => {
    const ledger = openWith(100);
    ledger.reserve({ ...hold, orderId: orderOf(1) });
    expect(ledger.cancelReservation(orderOf(1))).toBe(true);
    expect(ledger.cancelReservation(orderOf(1))).toBe(false);
    expect(ledger.balance(wallet).pendingMicro).toBe(0);
  });

  test('opens under a generation that everything it is folded from has begun, and no sooner', () => {
    const ledger = openWith(100);
    const plan = { id: 'second', generation: 2 };
    expect(ledger.planRebuild(plan)).toBeNull();
    ledger.close();
    expect(ledger.reserve({ ...hold, orderId: orderOf(1) }).outcome).toBe('not_ready');
    expect(ledger.planRebuild(plan)).toEqual(plan);
    expect(ledger.planRebuild({ id: 'another', generation: 9 })).toEqual(plan);
    const fence = { transferId: '0x02', wallet, amountMicro: 0, generation: 2 };
    ledger.applyTransfers({ fromOffset: 2, toOffset: 3, transfers: [fence] });
    expect(ledger.open(plan, [0])).toBe(false);
    ledger.applyExecutions({ ...piece, fromOffset: 0, toOffset: 1, generation: 2 });
    expect(ledger.open({ ...plan, id: 'another' }, [0])).toBe(false);
    expect(ledger.open(plan, [0])).toBe(true);
    expect(ledger.state()).toEqual({ generation: 2, ready: true });
  });

  test('drops the plan of a rebuild when something is lost in the middle of it', () => {
    const ledger = new LedgerFold();
    const plan = { id: 'first', generation: 0 };
    ledger.planRebuild(plan);
    ledger.close();
    expect(ledger.open(plan, [])).toBe(false);
    expect(ledger.planRebuild({ id: 'second', generation: 1 })?.id).toBe('second');
  });
});
