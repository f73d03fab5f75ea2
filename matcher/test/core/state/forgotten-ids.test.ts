import { newestRules } from '@pm/schemas/log/log-rules';
import { type Command, envelopeCommandsMax } from '@pm/schemas/log/orders';
import {
  defaultLimits,
  Engine,
  encodeFrozen,
  keyIdOf,
  type Limits,
} from '../../../src/core/index.ts';
import {
  envelopeOf,
  marketRules,
  oneShareMicro,
  opening,
  orderOf,
  partition,
  splitOf,
  startMs,
} from '../commands.ts';
import { textOf } from '../state-text.ts';

const orders = 5 * envelopeCommandsMax;
const perRecord = 40;
const ids = Array.from({ length: orders }, (_, index) => index + 1);
const forgottenMs = startMs + opening.orderAgeLimitMs + 120_000;
const placed = (id: number) => orderOf(id, 1 + (id % 40), { price: 100 * (1 + (id % 40)) });
const rests = (id: number) => id % 7 === 0;

/** Many ids of one minute, of which some still rest, right after the clock has passed the memory of their minute. */
function withForgottenIds(): Engine {
  const engine = new Engine(partition);
  engine.apply(envelopeOf([opening, marketRules(1)], 'OPERATOR'), 0);
  const commands: Command[] = ids.flatMap((id) => {
    const order = placed(id);
    const cancel = { kind: 'CancelOrder', orderId: order.orderId, signer: order.signer } as const;
    return rests(id) ? [order] : [order, cancel];
  });
  for (let from = 0; from < commands.length; from += envelopeCommandsMax) {
    engine.apply(envelopeOf(commands.slice(from, from + envelopeCommandsMax)), 1);
  }
  engine.apply(envelopeOf([{ kind: 'Tick', term: 0, timeMs: forgottenMs }]), 2);
  return engine;
}

/** The ids of the minute twice more, signed now, and between them cancels of some that still rest. */
function* later(): Generator<readonly Command[]> {
  // The last ones first: their records are removed last.
  for (let from = orders - perRecord; from >= 0; from -= perRecord) {
    const again = ids.slice(from, from + perRecord).map((id) => {
      const now = { signedAtMs: forgottenMs, acceptedAtMs: forgottenMs };
      return { ...placed(id), ...now } satisfies Command;
    });
    const resting = again.find(({ orderId }) => rests(orderId.readDoubleBE(24)));
    const cancels: Command[] = resting === undefined ? [] : [cancelOf(resting)];
    yield [...again, ...cancels, ...again];
  }
}

function cancelOf({ orderId, signer }: ReturnType<typeof placed>): Command {
  return { kind: 'CancelOrder', orderId, signer };
}

describe('forgotten ids', () => {
  it('count as forgotten before their records are removed, and orders that rest keep theirs', () => {
    const engine = withForgottenIds();
    const swept = withForgottenIds();
    swept.encodeState();
    let record = 3;
    let accepted = 0;
    for (const commands of later()) {
      const { events } = engine.apply(envelopeOf(commands), record);
      expect(textOf(events)).toBe(textOf(swept.apply(envelopeOf(commands), record).events));
      accepted += events.filter(({ kind }) => kind === 'OrderPlaced').length;
      record += 1;
    }
    // Accepted are the ids that did not rest, and of each record the id whose order the record canceled.
    expect(accepted).toBe(ids.filter((id) => !rests(id)).length + orders / perRecord);
    engine.assertInvariants();
    expect(engine.encodeState().equals(swept.encodeState())).toBe(true);
  });

  it('are not in a state that is frozen before their records are removed', () => {
    const engine = withForgottenIds();
    const frozen = engine.freeze((count) => new Int32Array(count));
    const expected = withForgottenIds().encodeState();
    let record = 3;
    for (const commands of later()) {
      engine.apply(envelopeOf(commands), record);
      record += 1;
    }
    expect(encodeFrozen(frozen).equals(expected)).toBe(true);
  });
});

describe('a full memory of ids', () => {
  const limits: Limits = { ...defaultLimits, rememberedIds: 3 };
  const split = splitOf(1, 1, oneShareMicro);
  const otherSplit = splitOf(2, 1, oneShareMicro);

  function fullEngine(rules: readonly Command[]): Engine {
    const engine = new Engine(partition, limits);
    engine.apply(envelopeOf([opening, ...rules, marketRules(1)], 'OPERATOR'), 0);
    engine.apply(envelopeOf([split, placed(1), placed(2)]), 1);
    return engine;
  }

  const codes = (engine: Engine, commands: readonly Command[]) =>
    engine
      .apply(envelopeOf(commands), 2)
      .events.flatMap((event) => ('code' in event ? [`${event.kind} ${event.code}`] : []));

  it('refuses what is new, gives first results again, and cancels', () => {
    const engine = fullEngine([{ kind: 'SetRules', version: newestRules }]);
    expect(codes(engine, [placed(3), otherSplit, placed(1), split, cancelOf(placed(1))])).toEqual([
      'OrderRefused overloaded',
      'CommandRefused overloaded',
      'OrderRepeated null',
      'CommandRefused already_done',
    ]);
  });

  it('remembers nothing of what it refused, so that the same order is placed once there is room', () => {
    const owner = Buffer.alloc(32, 77);
    const setOwner: Command = { kind: 'SetKey', publicKey: owner, role: 'OWNER', active: true };
    const engine = fullEngine([{ kind: 'SetRules', version: newestRules }, setOwner]);
    const late = { ...placed(3), signedAtMs: startMs + 200_000, acceptedAtMs: forgottenMs };
    expect(codes(engine, [late])).toEqual(['OrderRefused overloaded']);
    const tick = envelopeOf([{ kind: 'Tick', term: 0, timeMs: forgottenMs }]);
    engine.apply({ ...tick, keyId: keyIdOf(owner) }, 3);
    expect(codes(engine, [late, late])).toEqual(['OrderRepeated null']);
  });

  it('is not known to older rules', () => {
    expect(codes(fullEngine([]), [placed(3), otherSplit])).toEqual([]);
  });
});
