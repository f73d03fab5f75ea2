import {
  fillsPerOrderMax,
  openOrdersPerWalletMax,
  takerDelayMaxMs,
} from '@pm/schemas/log/executions';
import { newestRules, rules } from '@pm/schemas/log/log-rules';
import type { Command, CommandOf, PlaceOrder } from '@pm/schemas/log/orders';
import type { MarketMode } from '@pm/schemas/log/types';
import { orderSizeMaxMicro } from '@pm/schemas/money';
import type { RefusalCode } from '@pm/schemas/refusals';
import { Engine, keyIdOf } from '../../src/core/index.ts';
import {
  apiKeyOf,
  cancelAll,
  envelopeOf,
  marketRules,
  oneShareMicro,
  opening,
  orderIdOf,
  orderOf,
  partition,
  requestIdOf,
  signerOf,
  splitOf,
  startMs,
  walletOf,
} from './commands.ts';

const ten = 10 * oneShareMicro;

function engineWith(...commands: Command[]): Engine {
  const engine = new Engine(partition);
  engine.apply(envelopeOf([opening, marketRules(1)], 'OPERATOR'), 0);
  engine.apply(envelopeOf(commands, 'OPERATOR'), 1);
  return engine;
}

/** The codes of every refusal of a command. */
function refusalsOf(engine: Engine, command: Command, role = 'INGRESS'): (RefusalCode | null)[] {
  const { events } = engine.apply(envelopeOf([command], role), 2);
  return events.flatMap((event) => ('code' in event ? [event.code] : []));
}

const asks = (count: number, from: number): Command[] =>
  Array.from({ length: count }, (_, index) =>
    orderOf(from + index, 2 + (index % 2), { outcome: 1, sizeMicro: oneShareMicro }),
  );

const all = (mode: MarketMode): Command => ({ kind: 'SetTradingMode', mode });
const resolve: Command = { kind: 'ResolveMarket', market: 1, payout0: 5_000 };
const fence = (scope: Partial<CommandOf<'CancelOrders'>>): Command =>
  cancelAll({ acceptedAtMs: startMs, ...scope });

const orders: [RefusalCode, string, Partial<PlaceOrder>, Command[]?][] = [
  ['market_not_found', 'of a market that is not listed', { market: 2 }],
  ['market_not_found', 'of a third token', { outcome: 2 }],
  ['stale_order', 'signed too long ago', { signedAtMs: startMs - 120_001 }],
  ['stale_order', 'signed too far ahead', { signedAtMs: startMs + 300_001 }],
  ['too_late', 'accepted too long ago', { acceptedAtMs: startMs - 2_001 }],
  ['too_late', 'accepted too far ahead', { acceptedAtMs: startMs + 2_001 }],
  ['too_late', 'later than it asked for', { acceptedAtMs: startMs - 101, ageLimitMs: 100 }],
  [
    'old_generation',
    'reserved in an old generation',
    {},
    [{ kind: 'StartGeneration', generation: 1 }],
  ],
  [
    'market_resolved',
    'after the resolution',
    {},
    [{ kind: 'ResolveMarket', market: 1, payout0: 0 }],
  ],
  ['condition_paused', 'while its market is halted', {}, [marketRules(1, { mode: 'HALTED' })]],
  [
    'system_paused',
    'while all markets are halted',
    {},
    [marketRules(1, { mode: 'HALTED' }), all('HALTED')],
  ],
  ['market_resolved', 'of a resolved market while all are halted', {}, [all('HALTED'), resolve]],
  ['cancel_only', 'while all markets only cancel', {}, [all('CANCEL_ONLY')]],
  [
    'cancel_only',
    'in the stricter of two modes',
    { postOnly: true },
    [all('POST_ONLY'), marketRules(1, { mode: 'CANCEL_ONLY' })],
  ],
  ['post_only_mode', 'that is not post-only while all markets are', {}, [all('POST_ONLY')]],
  ['fenced', 'after the cancel of its signer', {}, [fence({ signer: signerOf(1) })]],
  ['fenced', 'after the cancel of its key', {}, [fence({ apiKey: apiKeyOf(1), market: 1 })]],
  ['fenced', 'after the cancel of its token', {}, [fence({ market: 1, outcome: 0 })]],
  [
    'fenced',
    'after the later of two cancels',
    { acceptedAtMs: startMs + 5 },
    [fence({ signer: signerOf(1) }), fence({ signer: signerOf(1), acceptedAtMs: startMs + 9 })],
  ],
  ['cancel_only', 'while only cancels pass', {}, [marketRules(1, { mode: 'CANCEL_ONLY' })]],
  ['post_only_mode', 'that is not post-only', {}, [marketRules(1, { mode: 'POST_ONLY' })]],
  [
    'invalid_post_only_order_type',
    'that is post-only and FAK',
    { postOnly: true, timeInForce: 'FAK' },
  ],
  ['invalid_tick_size', 'between two ticks', { price: 5_050 }],
  ['invalid_tick_size', 'at nothing', { price: 0 }],
  ['invalid_tick_size', 'at one', { price: 10_000, timeInForce: 'FOK' }],
  ['invalid_amounts', 'of no size', { sizeMicro: 0 }],
  ['invalid_amounts', 'of half a lot', { sizeMicro: ten + 5_000 }],
  ['invalid_amounts', 'beyond the largest', { sizeMicro: orderSizeMaxMicro + 10_000 }],
  ['invalid_amounts', 'with a budget that rests', { budgetMicro: ten }],
  [
    'invalid_amounts',
    'that sells for a budget',
    { side: 'SELL', timeInForce: 'FAK', budgetMicro: 1 },
  ],
  ['invalid_amounts', 'whose budget pays no lot', { timeInForce: 'FAK', budgetMicro: 4_999 }],
  ['invalid_size', 'below the smallest', { sizeMicro: oneShareMicro - 10_000 }],
  ['invalid_expiration', 'that expires now', { timeInForce: 'GTD', expiresAtMs: startMs }],
  ['invalid_expiration', 'that may not expire', { expiresAtMs: startMs + 1 }],
  ['insufficient_balance_or_allowance', 'not paid for', { holdMicro: ten / 2 - 1 }],
  ['insufficient_balance_or_allowance', 'of tokens that the wallet lacks', { side: 'SELL' }],
  ['post_only_would_cross', 'that is post-only and would match', { postOnly: true }, asks(1, 100)],
  ['fok_not_filled', 'the book cannot fill', { timeInForce: 'FOK' }, asks(9, 100)],
  ['fak_not_filled', 'that meets nothing', { timeInForce: 'FAK' }],
  ['self_trade', 'that meets its own', { maker: walletOf(2) }, asks(1, 100)],
  [
    'self_trade',
    'FOK, with an order of its own wallet in the way',
    { timeInForce: 'FOK', maker: walletOf(3) },
    asks(10, 100),
  ],
];

describe('an order is refused', () => {
  it.each(orders)('as %s: %s', (code, _what, order, before = []) => {
    const engine = engineWith(...before);
    expect(refusalsOf(engine, orderOf(1, 1, order))).toEqual([code]);
  });

  it('as fill_limit: a FOK order that would meet too many makers', () => {
    const engine = engineWith(...asks(fillsPerOrderMax + 1, 100));
    const size = { sizeMicro: (fillsPerOrderMax + 1) * oneShareMicro };
    expect(refusalsOf(engine, orderOf(1, 1, { timeInForce: 'FOK', ...size }))).toEqual([
      'fill_limit',
    ]);
    const { events } = engine.apply(envelopeOf([orderOf(2, 1, size)]), 3);
    const placed = events.find((event) => event.kind === 'OrderPlaced');
    expect(placed).toMatchObject({ status: 'CANCELED', filledMicro: 1_000 * oneShareMicro });
    expect(engine.openOrderCount).toBe(1);
  });

  it('as too_many_open_orders: one more than a wallet may have resting', () => {
    const engine = engineWith();
    for (let from = 0; from < openOrdersPerWalletMax; from += 500) {
      const more = Array.from({ length: 500 }, (_, index) => orderOf(10 + from + index, 1));
      engine.apply(envelopeOf(more), 2);
    }
    expect(refusalsOf(engine, orderOf(1, 1))).toEqual(['too_many_open_orders']);
    expect(refusalsOf(engine, orderOf(2, 1, { timeInForce: 'FAK' }))).toEqual(['fak_not_filled']);
    expect(refusalsOf(engine, orderOf(3, 2))).toEqual([]);
  });

  it('as too_many_open_orders: a level whose total would not be a safe integer', () => {
    const engine = engineWith();
    const huge = (id: number) => orderOf(id, id, { price: 100, sizeMicro: orderSizeMaxMicro });
    for (let id = 1; id <= 900; id += 1) expect(refusalsOf(engine, huge(id))).toEqual([]);
    expect(refusalsOf(engine, huge(901))).toEqual(['too_many_open_orders']);
  });

  it('once: a repetition gets the first result again', () => {
    const engine = engineWith();
    const late = orderOf(1, 1, { acceptedAtMs: startMs - 5_000 });
    expect(refusalsOf(engine, late)).toEqual(['too_late']);
    const again = engine.apply(envelopeOf([{ ...late, acceptedAtMs: startMs }]), 3).events;
    expect(again).toMatchObject([{ kind: 'OrderRepeated', code: 'too_late', alive: false }]);
    engine.apply(envelopeOf([orderOf(2, 1)]), 4);
    const live = engine.apply(envelopeOf([orderOf(2, 1)]), 5).events;
    expect(live).toMatchObject([
      { kind: 'OrderRepeated', code: null, alive: true, status: 'LIVE' },
    ]);
  });

  it('again when the refusal is not final', () => {
    const engine = engineWith();
    expect(refusalsOf(engine, orderOf(1, 1, { holdMicro: 0 }))).toHaveLength(1);
    expect(refusalsOf(engine, orderOf(1, 1))).toEqual([]);
  });
});

const merge = (sizeMicro: number): Command => ({
  kind: 'MergePosition',
  requestId: requestIdOf(9),
  wallet: walletOf(1),
  market: 1,
  sizeMicro,
});
const redeem: Command = {
  kind: 'RedeemPosition',
  requestId: requestIdOf(9),
  wallet: walletOf(1),
  market: 1,
};
const setKey: Command = {
  kind: 'SetKey',
  publicKey: opening.operatorKey,
  role: 'OWNER',
  active: true,
};

const newRules: CommandOf<'SetRules'> = { kind: 'SetRules', version: newestRules };
const claim = (term: number): Command => {
  return { kind: 'ClaimPartition', term, owner: Buffer.alloc(16, term) };
};

const commands: [RefusalCode, string, Command, Command[]?][] = [
  ['duplicate', 'a second opening', opening],
  ['duplicate', 'rules that hold already', newRules, [newRules]],
  ['invalid_payload', 'rules before the newest', { ...newRules, version: 0 }, [newRules]],
  ['invalid_payload', 'rules that are not known', { ...newRules, version: newestRules + 1 }],
  ['invalid_payload', 'a claim before the rules allow it', claim(1)],
  ['invalid_payload', 'a claim of a term after the next', claim(2), [newRules]],
  ['fenced', 'a claim of the term that is', claim(1), [newRules, claim(1)]],
  ['fenced', 'a claim of an earlier term', claim(1), [newRules, claim(1), claim(2)]],
  ['invalid_payload', 'the opening key in another role', setKey],
  ['invalid_payload', 'the opening key in another role, later', setKey, [newRules]],
  [
    'invalid_payload',
    'a second operator before the rules allow it',
    { ...setKey, publicKey: Buffer.alloc(32), role: 'OPERATOR' },
  ],
  ['invalid_payload', 'a generation that is not new', { kind: 'StartGeneration', generation: 0 }],
  ['invalid_payload', 'no such tick', marketRules(2, { tick: 7 })],
  ['invalid_payload', 'a coarser tick', marketRules(1, { tick: 1_000 })],
  ['invalid_payload', 'another condition', marketRules(1, { conditionId: Buffer.alloc(32) })],
  ['invalid_payload', 'another token', marketRules(1, { token1: Buffer.alloc(32) })],
  ['invalid_payload', 'RESOLVED as a mode', marketRules(1, { mode: 'RESOLVED' })],
  ['invalid_payload', 'rules after the resolution', marketRules(1), [resolve]],
  ['invalid_payload', 'a negative number', marketRules(-1)],
  ['invalid_payload', 'a payout above one', { ...resolve, payout0: 10_001 }],
  ['market_not_found', 'the resolution of an unknown market', { ...resolve, market: 2 }],
  ['market_resolved', 'a second resolution', resolve, [resolve]],
  ['invalid_payload', 'a cancel of everything', cancelAll({ outcome: 0 })],
  ['market_not_found', 'a split in an unknown market', splitOf(1, 1, ten, 2)],
  ['already_done', 'a split that was applied before', splitOf(1, 1, ten), [splitOf(1, 1, ten)]],
  [
    'old_generation',
    'a split reserved in an old generation',
    splitOf(1, 1, ten),
    [{ kind: 'StartGeneration', generation: 2 }],
  ],
  [
    'too_late',
    'a split accepted too long ago',
    { ...splitOf(1, 1, ten), acceptedAtMs: startMs - 2_001 } as Command,
  ],
  ['market_resolved', 'a split after the resolution', splitOf(1, 1, ten), [resolve]],
  ['invalid_amounts', 'a split of half a lot', splitOf(1, 1, 5_000)],
  [
    'insufficient_balance_or_allowance',
    'an unpaid split',
    { ...splitOf(1, 1, ten), holdMicro: 1 } as Command,
  ],
  ['invalid_amounts', 'a merge of nothing', merge(0)],
  ['insufficient_position', 'a merge of tokens that the wallet lacks', merge(ten)],
  ['market_not_resolved', 'a redemption before the resolution', redeem, [splitOf(1, 1, ten)]],
  ['insufficient_position', 'a redemption of nothing', redeem, [resolve]],
  ['invalid_payload', 'RESOLVED as the mode for all', all('RESOLVED')],
  ['invalid_payload', 'a delay without end', marketRules(1, { takerDelayMs: takerDelayMaxMs + 1 })],
  ['invalid_payload', 'a negative delay', marketRules(1, { takerDelayMs: -1 })],
];

describe('a command is refused', () => {
  it.each(commands)('as %s: %s', (code, _what, command, before = []) => {
    const engine = engineWith(...before);
    expect(refusalsOf(engine, command, 'OPERATOR')).toEqual([code]);
    engine.assertInvariants();
  });

  it('as partition_not_ready before the partition is open', () => {
    const tick: Command = { kind: 'Tick', term: 0, timeMs: startMs };
    expect(refusalsOf(new Engine(partition), tick)).toEqual(['partition_not_ready']);
    expect(refusalsOf(new Engine(partition), orderOf(1, 1))).toEqual(['market_not_found']);
    expect(refusalsOf(new Engine(9), opening)).toEqual(['invalid_payload']);
  });

  it('when an ingress names neither signer nor key for a cancel', () => {
    expect(refusalsOf(engineWith(), cancelAll({ market: 1 }))).toEqual(['invalid_payload']);
    expect(refusalsOf(engineWith(), cancelAll({ market: 1 }), 'OPERATOR')).toEqual([]);
    expect(refusalsOf(engineWith(), cancelAll({ apiKey: apiKeyOf(1) }))).toEqual([]);
  });

  it('as too_late: the cancel of a session that was sent too long ago', () => {
    const missed = { apiKey: apiKeyOf(1), session: true };
    const at = (acceptedAtMs: number) => cancelAll({ ...missed, acceptedAtMs });
    const engine = engineWith(orderOf(1, 1, { apiKey: apiKeyOf(1) }));
    expect(refusalsOf(engine, at(startMs - 2_001))).toEqual(['too_late']);
    expect(engine.openOrderCount).toBe(1);
    expect(refusalsOf(engine, { ...at(startMs - 2_001), session: false })).toEqual([]);
    expect(refusalsOf(engine, at(startMs - 2_000))).toEqual([]);
    expect(refusalsOf(engine, at(startMs + 60_000))).toEqual([]);
    expect(engine.openOrderCount).toBe(0);
  });
});

describe('an order that was signed longer ago than ids are remembered', () => {
  const tick = (timeMs: number): Command => ({ kind: 'Tick', term: 0, timeMs });
  const later = startMs + opening.orderAgeLimitMs + 120_000;
  const ownerKey = Buffer.alloc(32, 77);

  function engineUnder(version: number): Engine {
    const owner = { kind: 'SetKey', publicKey: ownerKey, role: 'OWNER', active: true } as const;
    const engine = engineWith({ kind: 'SetRules', version }, owner, orderOf(1, 1), orderOf(2, 1));
    // Orders that were booked before the first tick are in time by that tick.
    const ticks = [tick(startMs + 1), tick(later)];
    engine.apply({ ...envelopeOf(ticks), keyId: keyIdOf(ownerKey) }, 2);
    return engine;
  }

  it('is the same order again while it rests, and stale when it has ended or is new', () => {
    const engine = engineUnder(newestRules);
    const again = orderOf(1, 1, { acceptedAtMs: later });
    const { events } = engine.apply(envelopeOf([again]), 3);
    expect(events).toMatchObject([
      { kind: 'OrderRepeated', alive: true, status: 'LIVE', code: null },
    ]);
    const signer = signerOf(1);
    engine.apply(envelopeOf([{ kind: 'CancelOrder', orderId: orderIdOf(1), signer }]), 4);
    expect(refusalsOf(engine, again)).toEqual(['stale_order']);
    expect(refusalsOf(engine, orderOf(3, 1, { acceptedAtMs: later }))).toEqual(['stale_order']);
  });

  it('is stale in every state under the rules before', () => {
    const engine = engineUnder(rules.knownBeforeAge - 1);
    expect(refusalsOf(engine, orderOf(1, 1, { acceptedAtMs: later }))).toEqual(['stale_order']);
  });
});

describe('a cancel is refused', () => {
  const cancel = (id: number, signer: number): Command => ({
    kind: 'CancelOrder',
    orderId: orderIdOf(id),
    signer: signerOf(signer),
  });

  it('as order_not_found: unknown, canceled, or of another signer', () => {
    const engine = engineWith(orderOf(1, 1));
    expect(refusalsOf(engine, cancel(2, 1))).toEqual(['order_not_found']);
    expect(refusalsOf(engine, cancel(1, 2))).toEqual(['order_not_found']);
    expect(refusalsOf(engine, cancel(1, 1))).toEqual([]);
    expect(refusalsOf(engine, cancel(1, 1))).toEqual(['order_not_found']);
  });

  it('as already_matched: to the signer of a matched order, until it is forgotten', () => {
    const engine = engineWith(orderOf(1, 1), orderOf(2, 2, { outcome: 1 }));
    expect(refusalsOf(engine, cancel(1, 1))).toEqual(['already_matched']);
    expect(refusalsOf(engine, cancel(2, 2))).toEqual(['already_matched']);
    expect(refusalsOf(engine, cancel(2, 1))).toEqual(['order_not_found']);
    engine.apply(envelopeOf([{ kind: 'Tick', term: 0, timeMs: startMs + 300_000 }]), 4);
    expect(refusalsOf(engine, cancel(2, 2))).toEqual(['order_not_found']);
  });
});
