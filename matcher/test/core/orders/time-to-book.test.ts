import { newestRules } from '@pm/schemas/log/log-rules';
import type { Command, PlaceOrder } from '@pm/schemas/log/orders';
import { defaultLimits, Engine, keyIdOf, type Limits } from '../../../src/core/index.ts';
import {
  cancelAll,
  envelopeOf,
  marketRules,
  oneShareMicro,
  opening,
  orderOf,
  partition,
  resultsOf,
  signerOf,
  splitOf,
  startMs,
} from '../commands.ts';

const ownerKey = Buffer.alloc(32, 77);

/** A partition under the newest rules; its clock moves by ticks alone. Times are milliseconds after its start. */
class Partition {
  readonly engine: Engine;
  #offset = 0;
  #id = 0;

  constructor(limits: Limits = defaultLimits, takerDelayMs = 0) {
    this.engine = new Engine(partition, limits);
    const commands: Command[] = [
      opening,
      { kind: 'SetRules', version: newestRules },
      { kind: 'SetKey', publicKey: ownerKey, role: 'OWNER', active: true },
      marketRules(1, { takerDelayMs }),
    ];
    this.#apply(envelopeOf(commands, 'OPERATOR'));
    this.send(splitOf(1, 9, 1_000 * oneShareMicro));
  }

  send(...commands: Command[]): string[] {
    return this.#apply(envelopeOf(commands));
  }

  /** An order of ten shares at 0.50. */
  order(acceptedMs: number, order: Partial<PlaceOrder> = {}): PlaceOrder {
    this.#id += 1;
    const acceptedAtMs = startMs + acceptedMs;
    return orderOf(this.#id, this.#id, { acceptedAtMs, signedAtMs: startMs, ...order });
  }

  tick(atMs: number): string[] {
    const tick = { kind: 'Tick', term: 0, timeMs: startMs + atMs } as const;
    return this.#apply({ ...envelopeOf([tick]), keyId: keyIdOf(ownerKey) });
  }

  #apply(envelope: ReturnType<typeof envelopeOf>): string[] {
    const { events } = this.engine.apply(envelope, this.#offset);
    this.#offset += 1;
    this.engine.assertInvariants();
    return resultsOf(events);
  }
}

const sell = { side: 'SELL', maker: orderOf(0, 9).maker, signer: signerOf(9) } as const;

describe('an order with a limit of its own', () => {
  test.each([
    [0, 20, 20, 'LIVE'],
    [0, 20, 21, 'too_late'],
    [480, 20, 490, 'LIVE'],
    [480, 20, 501, 'too_late'],
    [480, 300, 4_000, 'too_late'],
    [3_900, 300, 4_000, 'LIVE'],
    [100, 60_000, 2_101, 'too_late'],
  ])(
    'accepted at %i with %i ms is, by a tick at %i: %s',
    (acceptedMs, ageLimitMs, tickMs, result) => {
      const one = new Partition();
      expect(one.send(one.order(acceptedMs, { ageLimitMs }))).toEqual(['held']);
      expect(one.engine.awaitsTick).toBe(true);
      expect(one.tick(tickMs)).toEqual([result]);
      expect(one.engine.awaitsTick).toBe(false);
    },
  );

  test('is refused at once where the clock shows that it is late', () => {
    const one = new Partition();
    one.tick(500);
    expect(one.send(one.order(400, { ageLimitMs: 99 }))).toEqual(['too_late']);
  });

  test('is judged by a tick that does not move the clock', () => {
    const one = new Partition();
    one.send(one.order(10, { ageLimitMs: 20 }));
    expect(one.tick(-300)).toEqual(['LIVE']);
  });

  test('meets the book of the tick, in order of arrival', () => {
    const one = new Partition();
    one.send(one.order(0, sell));
    one.send(
      one.order(5, { ageLimitMs: 50 }),
      one.order(6, { ageLimitMs: 50, timeInForce: 'FOK' }),
    );
    expect(one.tick(10)).toEqual(['fill 10', 'MATCHED', 'fok_not_filled']);
  });

  test('is stopped by a cancel of its id, and by a cancel of all', () => {
    const one = new Partition();
    const [first, second, third] = [1, 2, 3].map((ms) => one.order(ms, { ageLimitMs: 50 }));
    one.send(...([first, second, third] as PlaceOrder[]));
    const { orderId, signer } = first as PlaceOrder;
    expect(one.send({ kind: 'CancelOrder', orderId, signer })).toEqual(['fenced']);
    expect(one.send(cancelAll({ signer: second?.signer ?? null }))).toEqual([]);
    expect(one.tick(9)).toEqual(['fenced', 'fenced', 'LIVE']);
  });

  test('is canceled by the tick after, when the one that released it was long on its way', () => {
    const one = new Partition();
    one.send(one.order(0, { ageLimitMs: 50 }), one.order(9, { ageLimitMs: 50 }));
    expect(one.tick(10)).toEqual(['LIVE', 'LIVE']);
    expect(one.tick(2_009)).toEqual(['TOO_LATE']);
  });

  test('is delayed after the tick where it would trade in a market with a taker delay', () => {
    const one = new Partition(defaultLimits, 1_000);
    one.send(one.order(0, sell));
    one.send(one.order(5, { ageLimitMs: 50 }));
    expect(one.tick(10)).toEqual([]);
    expect(one.tick(1_009)).toEqual([]);
    expect(one.tick(1_010)).toEqual(['fill 10', 'MATCHED']);
  });

  test('is judged by the clock of its release where a record releases only some', () => {
    const one = new Partition({ ...defaultLimits, releasesPerRecord: 1 });
    one.send(one.order(0, { ageLimitMs: 50 }), one.order(0, { ageLimitMs: 50 }));
    one.send(one.order(0, { ageLimitMs: 50 }));
    expect(one.tick(40)).toEqual(['LIVE']);
    expect(one.tick(60)).toEqual(['LIVE']);
    expect(one.tick(70)).toEqual(['too_late']);
  });

  test('keeps its funds until then', () => {
    const one = new Partition();
    one.send(splitOf(2, 8, 10 * oneShareMicro));
    const eight = { ...sell, maker: orderOf(0, 8).maker, signer: signerOf(8) } as const;
    one.send(one.order(0, { ...eight, ageLimitMs: 50 }));
    expect(one.send(one.order(0, eight))).toEqual(['insufficient_balance_or_allowance']);
    expect(one.tick(100)).toEqual(['too_late']);
    expect(one.send(one.order(100, eight))).toEqual(['LIVE']);
  });
});

describe('an order without a limit of its own', () => {
  test('that was booked while the clock stood is canceled by the tick that finds it late', () => {
    const one = new Partition();
    expect(one.send(one.order(100), one.order(600))).toEqual(['LIVE', 'LIVE']);
    expect(one.tick(2_101)).toEqual(['TOO_LATE']);
    expect(one.tick(9_000)).toEqual([]);
  });

  test('keeps what it filled meanwhile', () => {
    const one = new Partition();
    one.send(one.order(100));
    expect(one.send(one.order(200, { ...sell, sizeMicro: oneShareMicro * 4 }))).toEqual([
      'fill 4',
      'MATCHED',
    ]);
    expect(one.tick(5_000)).toEqual(['TOO_LATE']);
  });

  test('stays when a tick has seen it in time', () => {
    const one = new Partition();
    one.send(one.order(100));
    one.tick(500);
    expect(one.tick(5_000)).toEqual([]);
  });

  test('is judged by the next tick that moves the clock', () => {
    const one = new Partition();
    one.send(one.order(100));
    expect(one.tick(0)).toEqual([]);
    expect(one.tick(5_000)).toEqual(['TOO_LATE']);
  });

  test('waits for the tick when it was accepted long after the clock, which must have stood', () => {
    const one = new Partition();
    expect(one.send(one.order(1_000))).toEqual(['LIVE']);
    expect(one.send(one.order(1_001), one.order(4_900))).toEqual(['held', 'held']);
    expect(one.tick(5_000)).toEqual(['TOO_LATE', 'too_late', 'LIVE']);
  });

  test('that is late never fills, however many are to be canceled', () => {
    const one = new Partition({ ...defaultLimits, cancelsPerRecord: 1 });
    one.send(one.order(100), one.order(110), one.order(120));
    expect(one.tick(5_000)).toEqual(['TOO_LATE']);
    const restored = Engine.restore(one.engine.encodeState(), defaultLimits);
    expect(restored.encodeState().equals(one.engine.encodeState())).toBe(true);
    expect(one.send(one.order(5_000, sell))).toEqual(['TOO_LATE', 'TOO_LATE', 'LIVE']);
  });
});

describe('a GTD order', () => {
  test.each([
    [999, 120_000, []],
    [1_000, 120_000, ['invalid_expiration']],
    [1_999, 121_000, []],
    [1_001, 120_999, ['invalid_expiration']],
  ])('accepted at %i that leaves the book at %i: %j', (acceptedMs, expiresMs, refusals) => {
    const one = new Partition();
    one.tick(1_000);
    const gtd = { timeInForce: 'GTD', expiresAtMs: startMs + expiresMs } as const;
    const events = one.send(one.order(acceptedMs, gtd));
    expect(events.filter((event) => event !== 'LIVE')).toEqual(refusals);
  });
});
