import type { EventOf, ExecutionEvent } from '@pm/schemas/log/executions';
import { Engine } from '../../../src/core/index.ts';
import { envelopeOf, marketRules, opening, orderOf, partition, startMs } from '../commands.ts';
import { RandomLog } from '../random-log.ts';

/** The events of a random log by the offset of their record; the engine is restored now and then. */
function historyOf(seed: number, records: number): Map<number, readonly ExecutionEvent[]> {
  const log = new RandomLog(seed);
  let engine = new Engine(partition);
  const history = new Map([[7, engine.apply(envelopeOf([opening], 'OPERATOR'), 7).events]]);
  for (let offset = 8; offset < records; offset += 1) {
    history.set(offset, engine.apply(log.next().envelope, offset).events);
    if (offset % 200 === 0) engine = Engine.restore(engine.encodeState());
  }
  return history;
}

describe('the result of a repeated order', () => {
  it('names the place of the first fills of the order: all of them, and no other event', () => {
    const history = historyOf(41, 3_000);
    let named = 0;
    for (const events of history.values()) {
      for (const event of events) {
        if (event.kind !== 'OrderRepeated' || event.fillCount === 0) continue;
        const { placedAtOffset, firstFill, fillCount, orderId } = event;
        const record = history.get(placedAtOffset) ?? [];
        const isMine = (one: ExecutionEvent): one is EventOf<'Fill'> =>
          one.kind === 'Fill' && one.takerOrderId.equals(orderId);
        const fills = record.slice(firstFill, firstFill + fillCount);
        expect(fills.every(isMine)).toBe(true);
        expect(record.filter(isMine)).toHaveLength(fillCount);
        const sum = fills.filter(isMine).reduce((size, fill) => size + fill.sizeMicro, 0);
        expect(sum).toBe(event.filledMicro);
        named += 1;
      }
    }
    expect(named).toBeGreaterThan(20);
  });

  it('names no place when there were no fills', () => {
    const engine = new Engine(partition);
    engine.apply(envelopeOf([opening, marketRules(1)], 'OPERATOR'), 0);
    engine.apply(envelopeOf([orderOf(1, 1)]), 1);
    const { events } = engine.apply(envelopeOf([orderOf(1, 1)]), 2);
    expect(events).toMatchObject([{ placedAtOffset: -1, firstFill: -1, fillCount: 0 }]);
  });

  it('is remembered for a delayed order as long as it waits, however old it is', () => {
    const engine = new Engine(partition);
    const rules = { ...opening, orderAgeLimitMs: 1_000 };
    engine.apply(envelopeOf([rules, marketRules(1, { takerDelayMs: 60_000 })], 'OPERATOR'), 0);
    const minuteMs = 60_000 * Math.ceil(startMs / 60_000);
    const times = { acceptedAtMs: minuteMs, signedAtMs: minuteMs - 500 };
    const tick = (afterMs: number) =>
      ({ kind: 'Tick', term: 0, timeMs: minuteMs + afterMs }) as const;
    const order = orderOf(2, 2, { ...times, outcome: 1, timeInForce: 'FAK' });
    engine.apply(envelopeOf([tick(0), orderOf(1, 1, times), order]), 1);
    const { orderId, signer } = order;
    const cancel = { kind: 'CancelOrder', orderId, signer } as const;
    engine.apply(envelopeOf([tick(2_000)]), 2);
    for (const each of [engine, Engine.restore(engine.encodeState())]) {
      each.assertInvariants();
      const waiting = each.apply(envelopeOf([cancel]), 3).events;
      expect(waiting).toMatchObject([{ code: 'order_delayed' }]);
      const placed = each.apply(envelopeOf([tick(60_000), cancel]), 4).events;
      expect(placed.slice(0, 3)).toMatchObject([
        { kind: 'Fill' },
        { kind: 'OrderPlaced', status: 'MATCHED' },
        { kind: 'CancelRefused', code: 'order_not_found' },
      ]);
      each.assertInvariants();
    }
  });
});
