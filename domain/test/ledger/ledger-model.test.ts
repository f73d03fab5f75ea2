import { Fault } from '@pm/kit/fault';
import { withdrawalLateMs } from '@pm/schemas/log/accounts';
import { orphanMarginMs, orphansPerCallMax, sendersMax } from '../../src/ledger/ledger.ts';
import { LedgerModel } from '../../src/testing/ledger-model.ts';
import { orderOf, walletOf } from './history.ts';

const wallet = walletOf(1);
const clock = { clockMs: 1_000, bookAgeLimitMs: 2_000 };
const piece = { ...clock, partition: 0, answered: [], moves: [], markets: [], generation: 0 };
const hold = {
  wallet,
  amountMicro: 60,
  partition: 0,
  kind: 'order',
  market: 7,
  acceptedAtMs: 1_000,
} as const;

function openWith(freeMicro: number): LedgerModel {
  const ledger = new LedgerModel();
  ledger.applyTransfers({
    fromOffset: 0,
    toOffset: 2,
    transfers: [
      { transferId: '0x01', wallet, amountMicro: freeMicro, generation: 0, timeMs: 1_000 },
      { transferId: '0x00', wallet, amountMicro: 0, generation: 1, timeMs: 1_000 },
    ],
  });
  const plan = { id: 'first', generation: 1 };
  ledger.planRebuild(plan);
  ledger.open(plan, []);
  return ledger;
}

describe('the ledger fold', () => {
  test('reserves nothing before it is ready', () => {
    const ledger = new LedgerModel();
    expect(ledger.reserve({ ...hold, orderId: orderOf(1) }).outcome).toBe('not_ready');
  });

  test('reserves no more than is free', () => {
    const ledger = openWith(100);
    expect(ledger.reserve({ ...hold, orderId: orderOf(1) })).toMatchObject({
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

  test.each([
    { wallet: walletOf(2) },
    { amountMicro: 61 },
    { partition: 1 },
    { kind: 'split' as const },
    { market: 8 },
  ])('takes nothing under a pending id that is for something else: %j', (other) => {
    const ledger = openWith(1_000);
    ledger.reserve({ ...hold, orderId: orderOf(1) });
    expect(ledger.reserve({ ...hold, ...other, orderId: orderOf(1) }).outcome).toBe('conflict');
    expect(ledger.balance(wallet).pendingMicro).toBe(60);
  });

  test('keeps a hold until every sender is answered or taken back', () => {
    const ledger = openWith(100);
    const first = ledger.reserve({ ...hold, orderId: orderOf(1) });
    const second = ledger.reserve({ ...hold, orderId: orderOf(1) });
    const send = { id: orderOf(1), partition: 0 };
    expect(ledger.cancelReservation({ ...send, sender: first.sender })).toBe(true);
    expect(ledger.cancelReservation({ ...send, sender: first.sender })).toBe(false);
    expect(ledger.balance(wallet).pendingMicro).toBe(60);
    const third = ledger.reserve({ ...hold, orderId: orderOf(1) });
    ledger.applyExecutions({ ...piece, fromOffset: 0, toOffset: 1, answered: [orderOf(1)] });
    expect(ledger.balance(wallet).pendingMicro).toBe(60);
    expect(ledger.cancelReservation({ ...send, sender: second.sender })).toBe(true);
    expect(ledger.balance(wallet).pendingMicro).toBe(0);
    expect(ledger.cancelReservation({ ...send, sender: third.sender })).toBe(false);
  });

  test('the answer to a record that holds nothing does not release the hold of another', () => {
    const ledger = openWith(100);
    const asked = ledger.reserve({ ...hold, amountMicro: 0, orderId: orderOf(1) });
    expect(asked.outcome).toBe('reserved');
    expect(ledger.reserve({ ...hold, orderId: orderOf(1) }).outcome).toBe('reserved');
    expect(ledger.balance(wallet).pendingMicro).toBe(60);
    ledger.applyExecutions({ ...piece, fromOffset: 0, toOffset: 1, answered: [orderOf(1)] });
    expect(ledger.balance(wallet).pendingMicro).toBe(60);
    ledger.applyExecutions({ ...piece, fromOffset: 1, toOffset: 2, answered: [orderOf(1)] });
    expect(ledger.balance(wallet).pendingMicro).toBe(0);
  });

  test('takes no more records under one id than the limit', () => {
    const ledger = openWith(100);
    for (let count = 0; count < sendersMax; count += 1)
      ledger.reserve({ ...hold, orderId: orderOf(1) });
    expect(ledger.reserve({ ...hold, orderId: orderOf(1) }).outcome).toBe('busy');
  });

  test('a hold is orphaned by the newest of its senders', () => {
    const ledger = openWith(100);
    ledger.reserve({ ...hold, orderId: orderOf(1) });
    ledger.reserve({ ...hold, orderId: orderOf(1), acceptedAtMs: 5_000 });
    const lastMs = 5_000 + piece.bookAgeLimitMs + orphanMarginMs;
    ledger.applyExecutions({ ...piece, fromOffset: 0, toOffset: 1, clockMs: lastMs });
    expect(ledger.balance(wallet).pendingMicro).toBe(60);
    ledger.applyExecutions({ ...piece, fromOffset: 1, toOffset: 2, clockMs: lastMs + 1 });
    expect(ledger.balance(wallet).pendingMicro).toBe(0);
  });

  test('takes an order without money even when nothing is free', () => {
    const ledger = openWith(0);
    expect(ledger.reserve({ ...hold, amountMicro: 0, orderId: orderOf(1) }).outcome).toBe(
      'reserved',
    );
  });

  test('replaces a reservation by the movement on the log', () => {
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
      { transferId: '0x02', wallet, amountMicro: 5, generation: 0, timeMs: 1_000 },
      { transferId: '0x02', wallet, amountMicro: 5, generation: 0, timeMs: 1_000 },
      { transferId: '0x01', wallet, amountMicro: 100, generation: 0, timeMs: 1_000 },
    ];
    ledger.applyTransfers({ fromOffset: 2, toOffset: 5, transfers });
    expect(ledger.balance(wallet).freeMicro).toBe(105);
  });

  test('holds for a withdrawal until its record is applied, and never again after', () => {
    const ledger = openWith(100);
    const withdrawal = { transferId: '0x09', wallet, amountMicro: 60, acceptedAtMs: 1_000 };
    expect(ledger.reserveWithdrawal(withdrawal)).toMatchObject({
      outcome: 'reserved',
      generation: 1,
    });
    expect(ledger.reserveWithdrawal(withdrawal).outcome).toBe('already');
    expect(ledger.reserveWithdrawal({ ...withdrawal, transferId: '0x0a' }).outcome).toBe(
      'insufficient',
    );
    const written = { transferId: '0x09', wallet, amountMicro: -60, generation: 1, timeMs: 1_000 };
    ledger.applyTransfers({ fromOffset: 2, toOffset: 4, transfers: [written, written] });
    expect(ledger.balance(wallet)).toMatchObject({ freeMicro: 40, pendingMicro: 0 });
    expect(ledger.reserveWithdrawal(withdrawal)).toMatchObject({
      outcome: 'applied',
      paidMicro: 60,
    });
    const other = { ...withdrawal, amountMicro: 61 };
    expect(ledger.reserveWithdrawal(other).outcome).toBe('conflict');
    const foreign = { ...withdrawal, wallet: walletOf(2) };
    expect(ledger.reserveWithdrawal(foreign).outcome).toBe('conflict');
  });

  test('reserves nothing new while the wallet has a finding, and takes what is pending as on its way', () => {
    const ledger = openWith(100);
    const withdrawal = { transferId: '0x09', wallet, amountMicro: 60, acceptedAtMs: 1_000 };
    ledger.reserveWithdrawal(withdrawal);
    const spend = { ...piece, moves: [{ wallet, freeMicro: -160, heldMicro: 0 }] };
    ledger.applyExecutions({ ...spend, fromOffset: 0, toOffset: 1 });
    const other = { ...withdrawal, transferId: '0x0a' };
    const outcomes = [withdrawal, other].map((one) => ledger.reserveWithdrawal(one).outcome);
    expect(outcomes).toEqual(['already', 'frozen']);
    expect(ledger.balance(wallet).pendingMicro).toBe(60);
  });

  test('a withdrawal pays no more than its own reservation holds, and says what it lacks', () => {
    const ledger = openWith(100);
    ledger.reserveWithdrawal({ transferId: '0x09', wallet, amountMicro: 10, acceptedAtMs: 1_000 });
    const larger = { transferId: '0x09', wallet, amountMicro: -90, generation: 1, timeMs: 1_000 };
    const unreserved = {
      transferId: '0x0a',
      wallet,
      amountMicro: -40,
      generation: 1,
      timeMs: 1_000,
    };
    const piece = { fromOffset: 2, toOffset: 4, transfers: [larger, unreserved] };
    expect(ledger.applyTransfers(piece).unpaid).toEqual([
      { transferId: '0x09', wallet, amountMicro: -90, movedMicro: -10 },
      { transferId: '0x0a', wallet, amountMicro: -40, movedMicro: 0 },
    ]);
    expect(ledger.balance(wallet)).toMatchObject({ freeMicro: 90, pendingMicro: 0 });
    expect(ledger.appliedTransfer('0x0a')?.movedMicro).toBe(0);
  });

  test('a closed ledger takes withdrawals as they are: their reservations are gone', () => {
    const ledger = openWith(100);
    ledger.close();
    const written = { transferId: '0x09', wallet, amountMicro: -60, generation: 1, timeMs: 1_000 };
    const piece = { fromOffset: 2, toOffset: 3, transfers: [written] };
    expect(ledger.applyTransfers(piece).unpaid).toEqual([]);
    expect(ledger.balance(wallet).freeMicro).toBe(40);
  });

  test('lists who is below zero while it is open, until that is acknowledged', () => {
    const ledger = openWith(100);
    const spend = { ...piece, moves: [{ wallet, freeMicro: -160, heldMicro: 0 }] };
    ledger.applyExecutions({ ...spend, fromOffset: 0, toOffset: 1 });
    const gain = { ...piece, moves: [{ wallet, freeMicro: 500, heldMicro: 0 }] };
    ledger.applyExecutions({ ...gain, fromOffset: 1, toOffset: 2 });
    expect(ledger.insolventWallets()).toEqual([wallet]);
    ledger.acknowledgeInsolvent(wallet);
    expect(ledger.insolventWallets()).toEqual([]);
  });

  test('a finding of the open ledger outlasts its closing', () => {
    const ledger = openWith(100);
    const spend = { ...piece, moves: [{ wallet, freeMicro: -160, heldMicro: 0 }] };
    ledger.applyExecutions({ ...spend, fromOffset: 0, toOffset: 1 });
    ledger.close();
    const gain = { ...piece, moves: [{ wallet, freeMicro: 500, heldMicro: 0 }], generation: 2 };
    ledger.applyExecutions({ ...gain, fromOffset: 1, toOffset: 2 });
    const fence = { transferId: '0x02', wallet, amountMicro: 0, timeMs: 0, generation: 2 };
    ledger.applyTransfers({ fromOffset: 2, toOffset: 3, transfers: [fence] });
    ledger.planRebuild({ id: 'second', generation: 2 });
    expect(ledger.open({ id: 'second', generation: 2 }, [0])).toBe(true);
    expect(ledger.insolventWallets()).toEqual([wallet]);
  });

  test('a rebuild passes through balances below zero and lists those that stay there', () => {
    const ledger = new LedgerModel();
    const [passing, staying] = [walletOf(1), walletOf(2)];
    const moves = [passing, staying].map((one) => ({ wallet: one, freeMicro: -5, heldMicro: 0 }));
    ledger.applyExecutions({ ...piece, fromOffset: 0, toOffset: 1, moves });
    expect(ledger.insolventWallets()).toEqual([]);
    const deposit = {
      transferId: '0x01',
      wallet: passing,
      amountMicro: 5,
      generation: 0,
      timeMs: 1_000,
    };
    const fence = { ...deposit, transferId: '0x00', amountMicro: 0, generation: 1, timeMs: 1_000 };
    ledger.applyTransfers({ fromOffset: 0, toOffset: 2, transfers: [deposit, fence] });
    ledger.planRebuild({ id: 'first', generation: 1 });
    expect(ledger.open({ id: 'first', generation: 1 }, [])).toBe(true);
    expect(ledger.insolventWallets()).toEqual([staying]);
  });

  test('a withdrawal after the fence of a newer generation is void and touches no hold', () => {
    const ledger = openWith(100);
    ledger.reserveWithdrawal({ transferId: '0x09', wallet, amountMicro: 60, acceptedAtMs: 1_000 });
    const fence = { transferId: '0x00', wallet, amountMicro: 0, generation: 2, timeMs: 1_000 };
    const late = { transferId: '0x09', wallet, amountMicro: -60, generation: 1, timeMs: 1_000 };
    const piece = { fromOffset: 2, toOffset: 4, transfers: [fence, late] };
    expect(ledger.applyTransfers(piece).voided).toEqual([
      { transferId: '0x09', wallet, amountMicro: -60 },
    ]);
    expect(ledger.balance(wallet)).toMatchObject({ freeMicro: 100, pendingMicro: 60 });
    const timely = { ...late, generation: 2 };
    ledger.applyTransfers({ fromOffset: 4, toOffset: 5, transfers: [timely] });
    expect(ledger.balance(wallet)).toMatchObject({ freeMicro: 40, pendingMicro: 0 });
  });

  test('a withdrawal that comes long after it was accepted is void after a fence, by the log alone', () => {
    const written = { transferId: '0x09', wallet, amountMicro: -60, timeMs: 1_000, generation: 1 };
    const fence = { ...written, transferId: '0x03', amountMicro: 0, generation: 0 };
    for (const [afterMs, left] of [
      [withdrawalLateMs, 40],
      [withdrawalLateMs + 1, 100],
    ] as const) {
      const ledger = openWith(100);
      ledger.close();
      const late = { ...fence, timeMs: written.timeMs + afterMs };
      ledger.applyTransfers({ fromOffset: 2, toOffset: 4, transfers: [late, written] });
      expect(ledger.balance(wallet).freeMicro).toBe(left);
    }
  });

  test('the time of a fence that begins a generation makes nothing void', () => {
    const ledger = openWith(100);
    ledger.close();
    const written = { transferId: '0x09', wallet, amountMicro: -60, timeMs: 1_000, generation: 2 };
    const ahead = { ...written, transferId: '0x03', amountMicro: 0, timeMs: 86_400_000 };
    ledger.applyTransfers({ fromOffset: 2, toOffset: 4, transfers: [ahead, written] });
    expect(ledger.balance(wallet).freeMicro).toBe(40);
  });

  test('releases withdrawals that were accepted before a time, and no orders', () => {
    const ledger = openWith(100);
    ledger.reserve({ ...hold, orderId: orderOf(1) });
    ledger.reserveWithdrawal({ transferId: '0x09', wallet, amountMicro: 20, acceptedAtMs: 500 });
    expect([ledger.newestWithdrawal(500), ledger.releaseWithdrawals(500)]).toEqual([null, 0]);
    expect(ledger.newestWithdrawal(501)).toBe(500);
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
    const { sender } = ledger.reserve({ ...hold, orderId: orderOf(1) });
    const send = { id: orderOf(1), partition: 0, sender };
    expect(ledger.cancelReservation({ ...send, partition: 1 })).toBe(false);
    expect(ledger.cancelReservation(send)).toBe(true);
    expect(ledger.cancelReservation(send)).toBe(false);
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
    const fence = { transferId: '0x02', wallet, amountMicro: 0, generation: 2, timeMs: 1_000 };
    ledger.applyTransfers({ fromOffset: 2, toOffset: 3, transfers: [fence] });
    expect(ledger.open(plan, [0])).toBe(false);
    ledger.applyExecutions({ ...piece, fromOffset: 0, toOffset: 1, generation: 2 });
    expect(ledger.open({ ...plan, id: 'another' }, [0])).toBe(false);
    expect(ledger.open(plan, [0])).toBe(true);
    expect(ledger.state()).toEqual({ generation: 2, ready: true });
  });

  test('drops the plan of a rebuild when something is lost in the middle of it', () => {
    const ledger = new LedgerModel();
    const plan = { id: 'first', generation: 0 };
    ledger.planRebuild(plan);
    ledger.close();
    expect(ledger.open(plan, [])).toBe(false);
    expect(ledger.planRebuild({ id: 'second', generation: 1 })?.id).toBe('second');
  });
});
