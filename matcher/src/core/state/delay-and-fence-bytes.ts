import { orderSizeMaxMicro, type PlaceOrder, priceOne } from '@pm/schemas';
import { hold } from '../orders/delay-order.ts';
import type { State } from './state.ts';
import {
  MalformedState,
  type StateReader,
  selfTrades,
  sides,
  sound,
  timesInForce,
} from './state-bytes.ts';

/** The way back of `writeDelays`. */
export function readDelays(
  state: State,
  slots: Readonly<Record<'positions' | 'ids', Int32Array>>,
  from: StateReader,
): void {
  for (let left = from.count(); left > 0; left -= 1) {
    const memory = placed(slots.ids, from);
    const position = placed(slots.positions, from);
    if (state.orderMemory.order(memory) !== -1) throw new MalformedState('order twice');
    const market = state.markets.at(state.positions.market(position));
    const wallet = state.positions.wallet(position);
    const facts = {
      orderId: state.orderMemory.id(memory),
      signer: state.orderMemory.signer(memory),
      maker: state.wallets.bytes(wallet),
      market: market.number,
    };
    const [apiKey, builder] = [from.bytes(16), from.bytes(32)];
    const releaseAtMs = from.number(0, safeMax);
    const rests = from.choice(bits) === 1;
    const order = { ...facts, apiKey, builder, ...readTerms(from) };
    const account = state.accounts.open(order.signer, order.apiKey);
    hold(state, { order, market, releaseAtMs, memory, wallet, position, account, rests });
  }
}

type Terms = Omit<PlaceOrder, 'orderId' | 'signer' | 'maker' | 'market' | 'apiKey' | 'builder'>;

function readTerms(from: StateReader): Terms {
  return {
    kind: 'PlaceOrder',
    outcome: from.choice(bits),
    side: from.choice(sides),
    timeInForce: from.choice(timesInForce),
    selfTrade: from.choice(selfTrades),
    price: from.number(1, priceOne - 1),
    sizeMicro: from.number(0, orderSizeMaxMicro),
    budgetMicro: from.number(0, orderSizeMaxMicro),
    holdMicro: from.number(0, safeMax),
    expiresAtMs: from.number(0, safeMax),
    acceptedAtMs: from.number(0, safeMax),
    postOnly: false,
    generation: 0,
    ageLimitMs: 0,
    signedAtMs: 0,
  };
}

/** The way back of `writeFences`. */
export function readFences({ fences }: State, from: StateReader): void {
  const count = from.count();
  for (let left = count; left > 0; left -= 1) {
    const signer = from.choice(bits) === 1 ? from.bytes(20) : null;
    const apiKey = from.choice(bits) === 1 ? from.bytes(16) : null;
    const market = from.number(-1, int32Max);
    const outcome = from.number(-1, 1);
    fences.add({ signer, apiKey, market, outcome, acceptedAtMs: from.number(0, safeMax) }, count);
  }
}

function placed(slots: Int32Array, from: StateReader): number {
  return slots[sound(from.number(0, safeMax), 0, slots.length - 1)] as number;
}

const safeMax = Number.MAX_SAFE_INTEGER;
const int32Max = 2 ** 31 - 1;
const bits = [0, 1] as const;
