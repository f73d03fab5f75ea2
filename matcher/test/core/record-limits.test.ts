import type { ExecutionEvent } from '@pm/schemas/log/executions';
import type { Command } from '@pm/schemas/log/orders';
import { Engine, type Limits } from '../../src/core/index.ts';
import {
  cancelAll,
  envelopeOf,
  marketRules,
  oneShareMicro,
  opening,
  orderOf,
  partition,
  requestIdOf,
  signerOf,
  splitOf,
  startMs,
  walletOf,
} from './commands.ts';

const limits: Limits = {
  fillsPerOrder: 10,
  fillsPerRecord: 4,
  cancelsPerRecord: 3,
  releasesPerRecord: 2,
  fences: 3,
  fencedIds: 5,
  fencedIdsPerSigner: 3,
  rememberedIds: 1_000_000,
};
const ten = 10 * oneShareMicro;

function engineWith(...commands: Command[]): Engine {
  const engine = new Engine(partition, limits);
  engine.apply(envelopeOf([opening, marketRules(1), marketRules(2)], 'OPERATOR'), 0);
  engine.apply(envelopeOf(commands), 1);
  return engine;
}

/** The events of a record, in short: order numbers canceled or filled, results, refusals. */
function eventLines(engine: Engine, commands: readonly Command[], role = 'INGRESS'): string[] {
  const { events } = engine.apply(envelopeOf(commands, role), 2);
  engine.assertInvariants();
  return events.flatMap(wordsOf);
}

function wordsOf(event: ExecutionEvent): string[] {
  const number = (id: Buffer): number => id.readDoubleBE(24);
  switch (event.kind) {
    case 'OrderCanceled':
      return [`${event.command}: ${event.reason} ${number(event.orderId)}`];
    case 'Fill':
      return [`${event.command}: fill ${number(event.makerOrderId)}`];
    case 'OrderDelayed':
      return [`${event.command}: delayed`];
    case 'OrderPlaced':
      return [`${event.command}: ${event.status}`];
    case 'PositionMoved':
      return [`${event.command}: ${event.action} ${event.paidMicro / oneShareMicro}`];
    default:
      return 'code' in event ? [`${event.command}: ${event.code}`] : [];
  }
}

const tick = (afterMs: number): Command => ({ kind: 'Tick', term: 0, timeMs: startMs + afterMs });
const dueInMs = (expiresInMs: number) =>
  ({ timeInForce: 'GTD', expiresAtMs: startMs + expiresInMs }) as const;
const expiring = (count: number) =>
  Array.from({ length: count }, (_, index) => orderOf(10 + index, 2, dueInMs(100 + index)));
const seller = { outcome: 1, acceptedAtMs: startMs + 1_000 } as const;

describe('a record that runs out of its budget of cancels', () => {
  it('leaves overdue orders to the next records, by expiry', () => {
    const engine = engineWith(...expiring(7));
    expect(eventLines(engine, [tick(1_000)])).toEqual([
      '0: EXPIRED 10',
      '0: EXPIRED 11',
      '0: EXPIRED 12',
    ]);
    expect(engine.nextExpiryMs).toBe(startMs + 103);
    expect(eventLines(engine, [tick(1_000)])).toEqual([
      '-1: EXPIRED 13',
      '-1: EXPIRED 14',
      '-1: EXPIRED 15',
    ]);
    expect(eventLines(engine, [])).toEqual(['-1: EXPIRED 16']);
    expect(eventLines(engine, [])).toEqual([]);
  });

  it('lets no overdue order fill: a taker clears it away and meets the next', () => {
    const engine = engineWith(...expiring(4), orderOf(20, 3));
    const takes = orderOf(1, 1, { ...seller, sizeMicro: ten });
    expect(eventLines(engine, [tick(1_000), takes])).toEqual([
      '0: EXPIRED 10',
      '0: EXPIRED 11',
      '0: EXPIRED 12',
      '1: fill 20',
      '1: EXPIRED 13',
      '1: MATCHED',
    ]);
  });

  it('lets a post-only order rest where only overdue orders are', () => {
    const engine = engineWith(...expiring(5));
    const makes = orderOf(1, 1, { ...seller, postOnly: true });
    expect(eventLines(engine, [tick(1_000), makes]).slice(3)).toEqual([
      '1: EXPIRED 13',
      '1: EXPIRED 14',
      '1: LIVE',
    ]);
    expect(engine.openOrderCount).toBe(1);
  });

  it('ignores overdue orders for FOK and FAK orders', () => {
    const engine = engineWith(...expiring(4));
    const takes = (id: number, timeInForce: 'FOK' | 'FAK') =>
      orderOf(id, 1, { ...seller, timeInForce, sizeMicro: oneShareMicro });
    expect(eventLines(engine, [tick(1_000), takes(1, 'FOK'), takes(2, 'FAK')]).slice(3)).toEqual([
      '1: fok_not_filled',
      '2: fak_not_filled',
    ]);
    expect(engine.openOrderCount).toBe(1);
  });

  it('refuses a cancel-all so that its sender repeats it, and still accepts single cancels', () => {
    const engine = engineWith(...[10, 11, 12, 13, 14].map((id) => orderOf(id, 2)));
    const all = cancelAll({ signer: signerOf(2) });
    const one: Command = {
      kind: 'CancelOrder',
      orderId: orderOf(14, 2).orderId,
      signer: signerOf(2),
    };
    const unmatched = cancelAll({ signer: signerOf(9) });
    expect(eventLines(engine, [all, one, unmatched])).toEqual([
      '0: USER 10',
      '0: USER 11',
      '0: USER 12',
      '0: too_many_open_orders',
      '1: USER 14',
      '2: too_many_open_orders',
    ]);
    expect(eventLines(engine, [all, unmatched])).toEqual(['0: USER 13']);
  });

  it('resolves at once, cancels by market and price, and redeems locked tokens before their cancel', () => {
    const sells = [10, 11, 12, 13].map((id) =>
      orderOf(id, 1, { side: 'SELL', price: 9_000 - id * 100, sizeMicro: ten }),
    );
    const engine = engineWith(splitOf(1, 1, 5 * ten), ...sells);
    const redeem = (id: number): Command => ({
      kind: 'RedeemPosition',
      requestId: requestIdOf(id),
      wallet: walletOf(1),
      market: 1,
    });
    const resolve: Command = { kind: 'ResolveMarket', market: 1, payout0: 10_000 };
    const story = eventLines(engine, [resolve, redeem(2), redeem(3), orderOf(20, 2)], 'OPERATOR');
    expect(story).toEqual([
      '0: MARKET 13',
      '0: MARKET 12',
      '0: MARKET 11',
      '1: REDEEM 50',
      '2: insufficient_position',
      '3: market_resolved',
    ]);
    expect(engine.openOrderCount).toBe(1);
    expect(Engine.restore(engine.encodeState(), limits).encodeState()).toEqual(
      engine.encodeState(),
    );
    expect(eventLines(engine, [redeem(4)])).toEqual(['-1: MARKET 10', '0: insufficient_position']);
    expect(engine.openOrderCount).toBe(0);
  });
});

describe('a record that runs out of its budget of fills', () => {
  const makers = [10, 11, 12, 13, 14, 15].map((id) => orderOf(id, 2));

  it('cancels the remainder of the taker it ends at, and refuses the next takers', () => {
    const engine = engineWith(...makers);
    const taker = (id: number, more = {}) => orderOf(id, 1, { outcome: 1, ...more });
    const story = eventLines(engine, [
      taker(1, { sizeMicro: 3 * ten }),
      taker(2, { sizeMicro: 2 * ten }),
      taker(3),
      taker(4, { timeInForce: 'FOK' }),
      taker(5, { timeInForce: 'FAK' }),
      taker(6, { postOnly: true }),
      taker(7, { price: 4_500, outcome: 0 }),
    ]);
    expect(story).toEqual([
      ...['0: fill 10', '0: fill 11', '0: fill 12', '0: MATCHED'],
      ...['1: fill 13', '1: CANCELED'],
      ...['2: fill_limit', '3: fill_limit', '4: fill_limit', '5: post_only_would_cross'],
      '6: LIVE',
    ]);
    expect(eventLines(engine, [taker(8)])).toEqual(['0: fill 14', '0: MATCHED']);
  });
});

describe('a record that runs out of its budget of releases', () => {
  const delaying = marketRules(1, { takerDelayMs: 1_000 });
  const takers = [1, 2, 3, 4, 5].map((id) =>
    orderOf(id, id, { outcome: 1, sizeMicro: oneShareMicro, timeInForce: 'FAK' }),
  );

  function engineWithDelayed(): Engine {
    const engine = engineWith(orderOf(10, 9));
    engine.apply(envelopeOf([delaying], 'OPERATOR'), 2);
    expect(eventLines(engine, takers)).toEqual(Array.from(takers, (_, at) => `${at}: delayed`));
    return engine;
  }

  it('leaves the others to the next records, by the end of their delay', () => {
    const engine = engineWithDelayed();
    expect(eventLines(engine, [tick(1_000)])).toEqual([
      ...['-1: fill 10', '-1: MATCHED'],
      ...['-1: fill 10', '-1: MATCHED'],
    ]);
    expect(engine.nextExpiryMs).toBe(startMs + 1_000);
    expect(eventLines(engine, []).filter((line) => line.includes('MATCHED'))).toHaveLength(2);
    expect(eventLines(engine, []).filter((line) => line.includes('MATCHED'))).toHaveLength(1);
    expect(engine.nextExpiryMs).toBe(Number.POSITIVE_INFINITY);
  });

  it('releases no order once half of the fills are used up, so that orders of the record can fill', () => {
    const engine = engineWithDelayed();
    const many = [20, 21, 22].map((id) =>
      orderOf(id, 9, { sizeMicro: oneShareMicro, price: 6_000 }),
    );
    engine.apply(envelopeOf(many), 2);
    const big = orderOf(6, 6, { outcome: 1, sizeMicro: 2 * oneShareMicro, timeInForce: 'FAK' });
    engine.apply(envelopeOf([big]), 2);
    expect(eventLines(engine, [tick(1_000)])).toHaveLength(4);
    expect(eventLines(engine, [])).toHaveLength(4);
    expect(eventLines(engine, [])).toHaveLength(4);
  });

  it('refuses delayed orders of a resolved market with later records', () => {
    const engine = engineWithDelayed();
    const resolve: Command = { kind: 'ResolveMarket', market: 1, payout0: 0 };
    expect(eventLines(engine, [resolve], 'OPERATOR')).toEqual([
      '0: MARKET 10',
      '-1: market_resolved',
      '-1: market_resolved',
    ]);
    const restored = Engine.restore(engine.encodeState(), limits);
    for (const each of [engine, restored]) {
      expect(eventLines(each, [])).toEqual(['-1: market_resolved', '-1: market_resolved']);
      expect(eventLines(each, [])).toEqual(['-1: market_resolved']);
      expect(eventLines(each, [])).toEqual([]);
    }
  });
});

describe('a partition with as many fences as it may have', () => {
  const fence = (id: number, afterMs = 0) =>
    cancelAll({ signer: signerOf(id), acceptedAtMs: startMs + afterMs });

  it('cancels but refuses the command so that it is repeated, until old fences are forgotten', () => {
    const engine = engineWith(orderOf(10, 4));
    expect(eventLines(engine, [fence(1), fence(2), fence(3, 1_000), fence(4)])).toEqual([
      '3: USER 10',
      '3: too_many_open_orders',
    ]);
    expect(eventLines(engine, [fence(3, 1_500), orderOf(11, 4)])).toEqual(['1: LIVE']);
    engine.apply(envelopeOf([tick(2_001)]), 3);
    const late = orderOf(12, 3, { acceptedAtMs: startMs + 1_500 });
    expect(eventLines(engine, [fence(4, 2_000), late])).toEqual(['0: USER 11', '1: fenced']);
  });

  it('limits a fence to the time at which orders can be booked', () => {
    const engine = engineWith();
    engine.apply(envelopeOf([fence(1, 3_600_000)]), 2);
    engine.apply(envelopeOf([tick(2_500)]), 3);
    const before = orderOf(1, 1, { acceptedAtMs: startMs + 2_000 });
    const after = orderOf(2, 1, { acceptedAtMs: startMs + 2_001 });
    expect(eventLines(engine, [before, after])).toEqual(['0: fenced', '1: LIVE']);
  });
});
