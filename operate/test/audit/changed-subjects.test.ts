import type { Execution, ExecutionEvent } from '@pm/schemas/log/executions';
import { ChangedSubjects } from '../../src/audit/changed-subjects.ts';
import { LogAudit } from '../../src/audit/log-audit.ts';

const wallet = (byte: number) => Buffer.alloc(20, byte);
const text = (byte: number) => `0x${byte.toString(16).padStart(2, '0').repeat(20)}`;
const order = (byte: number) => Buffer.alloc(32, byte);

const fill: ExecutionEvent = {
  kind: 'Fill',
  command: 0,
  market: 7,
  match: 'COMPLEMENTARY',
  sizeMicro: 3_000_000,
  takerOrderId: order(1),
  taker: wallet(1),
  takerKey: Buffer.alloc(16),
  takerOutcome: 1,
  takerSide: 'BUY',
  takerPrice: 4_000,
  takerBuilder: Buffer.alloc(32),
  makerOrderId: order(2),
  maker: wallet(2),
  makerKey: Buffer.alloc(16),
  makerOutcome: 1,
  makerSide: 'SELL',
  makerPrice: 4_000,
  makerBuilder: Buffer.alloc(32),
  makerRestMicro: 0,
  feeMicro: 12,
  feeRateBps: 10,
};

const execution = (events: readonly ExecutionEvent[]): Execution => ({
  chain: Buffer.alloc(32),
  inOffset: 0,
  timeMs: 1,
  keyId: Buffer.alloc(8),
  sequence: 0,
  events: [...events],
});

const about = (name: string) => ({ about: name, text: name });

describe('an audit of a running exchange', () => {
  test('leaves out subjects that changed while it read, and judges all others', () => {
    const moved = new ChangedSubjects();
    moved.record(
      execution([fill, { kind: 'MoneyMoved', wallet: wallet(3), freeMicro: 1, heldMicro: 0 }]),
    );
    moved.wallet(text(9));
    const found = [`${text(1)} 7 1`, '7', text(3), text(9)].map(about);
    const still = [`${text(1)} 7 0`, '8', text(4)].map(about);
    expect(moved.sort([...found, ...still])).toEqual({
      wrong: still.map(({ text: one }) => one),
      changed: found.length,
    });
  });

  test('never leaves out a mismatch that no later record can explain', () => {
    const moved = new ChangedSubjects();
    moved.wallet(text(1));
    expect(moved.sort([{ about: null, text: 'wrong' }])).toEqual({ wrong: ['wrong'], changed: 0 });
  });

  test('judges alike when it forgets orders that have left the book', () => {
    const placed = (id: Buffer, restingMicro: number, filledMicro = 0): ExecutionEvent => ({
      kind: 'OrderPlaced',
      command: 0,
      orderId: id,
      market: 7,
      outcome: 1,
      side: 'SELL',
      timeInForce: 'GTC',
      postOnly: false,
      price: 4_000,
      sizeMicro: 3_000_000,
      expiresAtMs: 0,
      acceptedAtMs: 0,
      maker: wallet(2),
      signer: wallet(2),
      apiKey: Buffer.alloc(16),
      builder: Buffer.alloc(32),
      status: 'LIVE',
      filledMicro,
      paidMicro: 0,
      feeMicro: 0,
      restingMicro,
    });
    const records = [
      execution([placed(order(2), 3_000_000)]),
      { ...execution([fill, placed(order(1), 0, 3_000_000)]), inOffset: 1 },
    ];
    const judged = [true, false].map((keepsEnded) => {
      const audit = new LogAudit(text(0xfe), { keepsEnded });
      for (const one of records) audit.record(one, { partition: 0, chainHolds: true });
      audit.finish();
      return { audit, orders: audit.orders.size };
    });
    expect(judged.map(({ orders }) => orders)).toEqual([2, 0]);
    expect(judged.map(({ audit }) => audit.placed)).toEqual([2, 2]);
    expect(judged[0]?.audit.violations).toEqual(judged[1]?.audit.violations);
    expect(judged[0]?.audit.nextInOffset(0)).toBe(2);
  });
});
