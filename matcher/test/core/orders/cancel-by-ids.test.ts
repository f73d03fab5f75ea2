import { newestRules, rules } from '@pm/schemas/log/log-rules';
import { type Command, type CommandOf, idsPerCancelMax } from '@pm/schemas/log/orders';
import { defaultLimits, Engine, keyIdOf, type Limits } from '../../../src/core/index.ts';
import {
  envelopeOf,
  marketRules,
  opening,
  orderIdOf,
  orderOf,
  partition,
  signerOf,
  startMs,
} from '../commands.ts';

const { bookAgeLimitMs } = opening;
const ownerKey = Buffer.alloc(32, 77);

function engineUnder(version: number, limits: Limits = defaultLimits): Engine {
  const engine = new Engine(partition, limits);
  const owner = { kind: 'SetKey', publicKey: ownerKey, role: 'OWNER', active: true } as const;
  const begun: Command[] = [opening, { kind: 'SetRules', version }, owner, marketRules(1)];
  engine.apply(envelopeOf(begun, 'OPERATOR'), 0);
  return engine;
}

function cancelOf(
  ids: readonly number[],
  signer = 1,
  acceptedAtMs = startMs,
): CommandOf<'CancelByIds'> {
  return {
    kind: 'CancelByIds',
    orderIds: ids.map(orderIdOf),
    signer: signerOf(signer),
    acceptedAtMs,
  };
}

function move(engine: Engine, afterMs: number): void {
  const tick = { kind: 'Tick', timeMs: startMs + afterMs, term: 0 } as const;
  engine.apply({ ...envelopeOf([tick]), keyId: keyIdOf(ownerKey) }, 9);
}

/** Refusals by their codes, cancels and placements by their kind, in order. */
function say(engine: Engine, ...commands: Command[]): string[] {
  const { events } = engine.apply(envelopeOf(commands, 'OPERATOR'), 9);
  engine.assertInvariants();
  return events.flatMap((event) => {
    if (!('command' in event)) return [];
    return [('code' in event && event.code) || event.kind];
  });
}

let engine: Engine;
beforeEach(() => {
  engine = engineUnder(newestRules);
});

it('an order that comes after the cancel of its id is refused as fenced, and so is its repetition', () => {
  const order = orderOf(7, 1, { acceptedAtMs: startMs - 500 });
  expect(say(engine, cancelOf([7]))).toEqual([]);
  expect(say(engine, order)).toEqual(['fenced']);
  expect(say(engine, order)).toEqual(['fenced']);
});

it('an order that a client sends again after the cancel of its id is fenced as well', () => {
  expect(say(engine, cancelOf([7]), orderOf(7, 1, { acceptedAtMs: startMs + 1_000 }))).toEqual([
    'fenced',
  ]);
});

it('a cancel by another signer fences no order, known or not', () => {
  expect(say(engine, orderOf(8, 1), cancelOf([7, 8], 2))).toEqual([
    'OrderPlaced',
    'order_not_found',
  ]);
  expect(say(engine, orderOf(7, 1))).toEqual(['OrderPlaced']);
});

it('a fenced id is forgotten when no order that came before the cancel can be booked', () => {
  say(engine, cancelOf([7, 8]));
  move(engine, bookAgeLimitMs);
  expect(say(engine, orderOf(7, 1, { acceptedAtMs: startMs }))).toEqual(['fenced']);
  move(engine, bookAgeLimitMs + 1);
  expect(say(engine, orderOf(8, 1, { acceptedAtMs: startMs }))).toEqual(['too_late']);
  expect(say(engine, orderOf(8, 1, { acceptedAtMs: startMs + bookAgeLimitMs }))).toEqual([
    'too_late',
  ]);
  expect(say(engine, orderOf(9, 1, { acceptedAtMs: startMs + bookAgeLimitMs }))).toEqual([
    'OrderPlaced',
  ]);
});

it('a cancel of the future fences for the time-to-book limit of the clock, one of long ago not at all', () => {
  say(
    engine,
    cancelOf([7], 1, startMs + 3_600_000),
    cancelOf([8], 1, startMs - bookAgeLimitMs - 1),
    cancelOf([9], 1, 0),
  );
  expect(say(engine, orderOf(8, 1), orderOf(9, 1))).toEqual(['OrderPlaced', 'OrderPlaced']);
  move(engine, 2 * bookAgeLimitMs + 1);
  expect(say(engine, orderOf(7, 1, { acceptedAtMs: startMs + 4_000 }))).toEqual(['OrderPlaced']);
});

it('known orders are canceled or refused as one by one, and the same id twice counts once', () => {
  const filled = [orderOf(3, 1, { price: 6_000 }), orderOf(4, 2, { outcome: 1, price: 4_000 })];
  say(engine, orderOf(1, 1), ...filled, orderOf(5, 2, { price: 1_000 }));
  expect(say(engine, cancelOf([1, 1, 3, 5, 6]))).toEqual([
    'OrderCanceled',
    'order_not_found',
    'already_matched',
    'order_not_found',
  ]);
});

it('fenced ids are in the state, and a restored engine refuses the same orders', () => {
  say(engine, cancelOf([7, 6]), cancelOf([7], 2));
  const restored = Engine.restore(engine.encodeState());
  expect(restored.encodeState().equals(engine.encodeState())).toBe(true);
  expect(say(restored, orderOf(6, 1), orderOf(7, 2), orderOf(8, 1))).toEqual([
    'fenced',
    'fenced',
    'OrderPlaced',
  ]);
});

it('beyond the part of a signer, or of all, the others are canceled and the command is refused', () => {
  const limits = { ...defaultLimits, fencedIds: 3, fencedIdsPerSigner: 2 };
  engine = engineUnder(newestRules, limits);
  expect(say(engine, orderOf(1, 1), cancelOf([5, 6, 7, 1]))).toEqual([
    'OrderPlaced',
    'OrderCanceled',
    'too_many_open_orders',
  ]);
  expect(say(engine, cancelOf([5, 6]))).toEqual([]);
  expect(say(engine, cancelOf([8], 2), cancelOf([9], 3))).toEqual(['too_many_open_orders']);
  move(engine, bookAgeLimitMs + 1);
  expect(say(engine, cancelOf([7], 1, startMs + bookAgeLimitMs))).toEqual([]);
});

it('cancels of a record have its budget; a command with more ids than allowed is refused', () => {
  engine = engineUnder(newestRules, { ...defaultLimits, cancelsPerRecord: 1 });
  say(engine, orderOf(1, 1), orderOf(2, 1));
  expect(say(engine, cancelOf([1, 2, 3]))).toEqual(['OrderCanceled', 'too_many_open_orders']);
  expect(say(engine, cancelOf([2, 3]))).toEqual(['OrderCanceled']);
  const ids = Array.from({ length: idsPerCancelMax + 1 }, (_, index) => index);
  expect(say(engine, cancelOf(ids))).toEqual(['invalid_payload']);
});

it('under the rules before, ids are canceled and not fenced', () => {
  const earlier = engineUnder(rules.fencedIds - 1);
  expect(say(earlier, orderOf(1, 1), cancelOf([1, 7]))).toEqual(['OrderPlaced', 'OrderCanceled']);
  expect(say(earlier, orderOf(7, 1))).toEqual(['OrderPlaced']);
});
