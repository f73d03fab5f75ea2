import { newestRules } from '@pm/schemas/log/log-rules';
import type { Command } from '@pm/schemas/log/orders';
import { runLength } from '../../../kit/test/long-runs.ts';
import { defaultLimits, Engine, keyIdOf, type Limits } from '../../src/core/index.ts';
import {
  cancelAll,
  envelopeOf,
  marketRules,
  oneShareMicro,
  opening,
  orderOf,
  partition,
  splitOf,
  startMs,
} from './commands.ts';
import { RandomLog, type RandomRecord, tightLimits } from './random-log.ts';
import { textOf } from './state-text.ts';

const ownerKey = Buffer.alloc(32, 77);
const setOwner: Command = { kind: 'SetKey', publicKey: ownerKey, role: 'OWNER', active: true };

/** Under the newest rules with an even seed, under those of older logs with an odd one. */
function recordsOf(seed: number, count: number): RandomRecord[] {
  const log = new RandomLog(seed, seed % 2 === 0);
  const rules: Command[] =
    seed % 2 === 0 ? [{ kind: 'SetRules', version: newestRules }, setOwner] : [];
  const first = { envelope: envelopeOf([opening, ...rules], 'OPERATOR'), isOperator: true };
  const random = Array.from({ length: count }, () => log.next());
  return [first, ...random].map((record, sequence) => {
    const isTick = record.envelope.commands.every(({ kind }) => kind === 'Tick');
    const keyId = isTick ? keyIdOf(ownerKey) : record.envelope.keyId;
    return { ...record, envelope: { ...record.envelope, keyId, sequence } };
  });
}

function stoppedAfter(
  records: readonly RandomRecord[],
  stop: number,
  limits: Limits = defaultLimits,
): Engine {
  const engine = new Engine(partition, limits);
  records.slice(0, stop).forEach(({ envelope }, at) => {
    engine.apply(envelope, at);
  });
  return Engine.restore(engine.encodeState(), limits);
}

describe('a restored engine', () => {
  const recordsTotal = runLength({ test: 200, deep: 700 });

  it.each([
    [11, defaultLimits],
    [12, defaultLimits],
    [13, tightLimits],
    [14, tightLimits],
  ])('goes on as if it had never stopped, seed %d, limits %j', (seed, limits) => {
    const records = recordsOf(seed, recordsTotal);
    const whole = new Engine(partition, limits);
    const answers = records.map(({ envelope }, at) => textOf(whole.apply(envelope, at).events));
    for (let stop = 0; stop < records.length; stop += 1 + ((stop * 7 + seed) % 171)) {
      const engine = stoppedAfter(records, stop, limits);
      records.slice(stop).forEach(({ envelope }, index) => {
        const offset = stop + index;
        const text = textOf(engine.apply(envelope, offset).events);
        if (text !== answers[offset])
          expect({ offset, text }).toEqual({ offset, text: answers[offset] });
      });
      expect(engine.encodeState().equals(whole.encodeState())).toBe(true);
    }
  });

  it('encodes to the bytes it was restored from, at every record', () => {
    const engine = new Engine(partition);
    for (const { envelope } of recordsOf(21, 200)) {
      engine.apply(envelope, 0);
      const bytes = engine.encodeState();
      expect(Engine.restore(bytes).encodeState().equals(bytes)).toBe(true);
    }
  });

  it('shows the same clock, expiry, counts and keys', () => {
    const records = recordsOf(22, 500);
    const engine = stoppedAfter(records, 0);
    for (const { envelope } of records) engine.apply(envelope, 0);
    const restored = Engine.restore(engine.encodeState());
    const shown = ({ opened, timeMs, nextExpiryMs, openOrderCount, marketCount }: Engine) => ({
      opened,
      timeMs,
      nextExpiryMs,
      openOrderCount,
      marketCount,
    });
    expect(shown(restored)).toEqual(shown(engine));
    expect(restored.operatorKey()).toEqual(engine.operatorKey());
    expect(restored.openOrderCount).toBeGreaterThan(0);
  });

  it('remembers the whole result of an order that outlived the memory of its minute', () => {
    const engine = new Engine(partition);
    engine.apply(envelopeOf([opening, marketRules(1)], 'OPERATOR'), 0);
    const sells = orderOf(2, 2, { side: 'SELL' });
    const buys = orderOf(1, 1, { sizeMicro: 4 * oneShareMicro });
    engine.apply(envelopeOf([splitOf(1, 2, 10 * oneShareMicro), buys, sells]), 1);
    const clockMs = startMs + 600_000;
    engine.apply(envelopeOf([{ kind: 'Tick', term: 0, timeMs: clockMs }]), 2);
    const again = envelopeOf([{ ...sells, signedAtMs: clockMs }]);
    const { events } = Engine.restore(engine.encodeState()).apply(again, 3);
    expect(textOf(events)).toBe(textOf(engine.apply(again, 3).events));
    expect(events).toMatchObject([{ kind: 'OrderRepeated', side: 'SELL', filledMicro: 4_000_000 }]);
  });

  it('is the same whatever its memory slots were used for before', () => {
    const records = recordsOf(1, 200);
    const listing = envelopeOf([marketRules(2_000)], 'OPERATOR');
    const plain = stoppedAfter(records, 100);
    plain.apply(listing, 0);
    const visited = Engine.restore(plain.encodeState());
    const at = { market: 2_000, acceptedAtMs: plain.timeMs, generation: 100 };
    for (let id = 1; id <= 300; id += 1) {
      const order = orderOf(1e6 + id, 500 + (id % 40), { ...at, price: 100 * (1 + (id % 90)) });
      const cancel = { kind: 'CancelOrder', orderId: order.orderId, signer: order.signer } as const;
      const { events } = visited.apply(envelopeOf(id % 3 === 0 ? [order, cancel] : [order]), 0);
      expect(events[0]).toMatchObject({ kind: 'OrderPlaced' });
    }
    visited.apply(envelopeOf([cancelAll({ market: 2_000 })], 'OPERATOR'), 0);
    const later = envelopeOf([{ kind: 'Tick', term: 0, timeMs: plain.timeMs + 600_000 }]);
    for (const engine of [plain, visited]) {
      engine.apply(later, 0);
      for (const { envelope } of records.slice(100)) engine.apply(envelope, 0);
      engine.assertInvariants();
    }
    expect(visited.encodeState().equals(plain.encodeState())).toBe(true);
  });
});

describe('malformed state', () => {
  const engine = stoppedAfter(recordsOf(5, 200), 201);
  const bytes = engine.encodeState();

  it('is refused when cut short at any place', () => {
    for (let length = 0; length < bytes.length; length += 397) {
      expect(() => Engine.restore(bytes.subarray(0, length))).toThrow();
    }
  });

  it('is refused when something follows', () => {
    expect(() => Engine.restore(Buffer.concat([bytes, Buffer.alloc(1)]))).toThrow('left over');
  });

  it('is refused or is another state when a byte is changed', () => {
    for (let index = 0; index < bytes.length; index += 211) {
      const changed = Buffer.from(bytes);
      changed[index] = (changed[index] as number) ^ 0x55;
      let restored: Engine | null = null;
      try {
        restored = Engine.restore(changed);
      } catch (error) {
        expect(['MalformedState', 'BrokenAssumption']).toContain((error as Error).name);
      }
      if (restored !== null) expect(restored.encodeState().equals(changed)).toBe(true);
    }
  });
});
