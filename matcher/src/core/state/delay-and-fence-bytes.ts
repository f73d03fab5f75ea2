import { rules } from '@pm/schemas/log/log-rules';
import type { PlaceOrder } from '@pm/schemas/log/orders';
import { orderSizeMaxMicro, priceOne } from '@pm/schemas/money';
import { attachDelayed } from '../orders/delay-order.ts';
import type { State } from './state.ts';
import {
  bits,
  int32Max,
  MalformedState,
  type StateReader,
  StateWriter,
  safeMax,
  selfTrades,
  sides,
  sound,
  timesInForce,
} from './state-bytes.ts';

/** Delayed orders of one moment, by release: the slots of their ids and positions, and the rest of their rows. */
export interface FrozenDelays {
  readonly memory: Int32Array;
  readonly position: Int32Array;
  readonly rows: Uint8Array;
  /** Bytes of a row. */
  readonly rowBytes: number;
}

/** Rows of rules by which ticks judge orders have three numbers more. */
const delayBytes = 16 + 32 + 12 * 8;
const heldBytes = delayBytes + 3 * 8;

export function freezeDelays({ delays, rules: now }: State): FrozenDelays {
  const orders = delays.inOrder();
  const mayHold = now >= rules.judgedByTicks;
  const rowBytes = mayHold ? heldBytes : delayBytes;
  const to = new StateWriter(orders.length * rowBytes);
  for (const { order, releaseAtMs, rests, isHeld } of orders) {
    to.bytes(order.apiKey);
    to.bytes(order.builder);
    to.number(releaseAtMs);
    to.number(rests ? 1 : 0);
    to.number(order.outcome);
    to.number(sides.indexOf(order.side));
    to.number(timesInForce.indexOf(order.timeInForce));
    to.number(selfTrades.indexOf(order.selfTrade));
    to.number(order.price);
    to.number(order.sizeMicro);
    to.number(order.budgetMicro);
    to.number(order.holdMicro);
    to.number(order.expiresAtMs);
    to.number(order.acceptedAtMs);
    if (!mayHold) continue;
    to.number(isHeld ? 1 : 0);
    to.number(order.ageLimitMs);
    to.number(order.postOnly ? 1 : 0);
  }
  return {
    rowBytes,
    memory: Int32Array.from(orders, ({ memory }) => memory),
    position: Int32Array.from(orders, ({ position }) => position),
    rows: to.finish(),
  };
}

/**
 * A row per delayed order, by release: its id, position and builder code, then its terms. The wallet is that of the
 * position.
 */
export function writeDelays(
  { memory, position, rows, rowBytes }: FrozenDelays,
  from: Readonly<Record<'positions' | 'ids', Int32Array>>,
  to: StateWriter,
): void {
  to.number(memory.length);
  for (let index = 0; index < memory.length; index += 1) {
    to.number(from.ids[memory[index] as number] as number);
    to.number(from.positions[position[index] as number] as number);
    to.bytes(rows.subarray(index * rowBytes, (index + 1) * rowBytes));
  }
}

/** Reads the rows of `writeDelays`. */
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
    const terms = readTerms(from);
    const held = state.rules < rules.judgedByTicks ? notHeld : readHold(from);
    const order = { ...facts, apiKey, builder, ...terms, ...held.terms };
    const { isHeld } = held;
    const account = state.accounts.open(order.signer, order.apiKey);
    const of = { memory, wallet, position, account };
    attachDelayed(state, { order, market, releaseAtMs, isHeld, ...of, rests });
  }
}

/** Additional fields in the row of a delayed order under rules by which ticks judge orders. */
interface Hold {
  readonly isHeld: boolean;
  readonly terms: Pick<PlaceOrder, 'ageLimitMs' | 'postOnly'>;
}

const notHeld: Hold = { isHeld: false, terms: { ageLimitMs: 0, postOnly: false } };

function readHold(from: StateReader): Hold {
  const isHeld = from.choice(bits) === 1;
  const ageLimitMs = from.number(0, int32Max);
  return { isHeld, terms: { ageLimitMs, postOnly: from.choice(bits) === 1 } };
}

type Terms = Omit<
  PlaceOrder,
  'orderId' | 'signer' | 'maker' | 'market' | 'apiKey' | 'builder' | keyof Hold['terms']
>;

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
    generation: 0,
    signedAtMs: 0,
  };
}

/**
 * A row per fence, by owner and scope; any signer and any key are written as a zero without bytes. Then a row per
 * fenced id, by signer and id.
 */
export function writeFences({ fences, fencedIds, rules: version }: State, to: StateWriter): void {
  to.number(fences.count);
  for (const { signer, apiKey, market, outcome, acceptedAtMs } of fences.inOrder()) {
    for (const owner of [signer, apiKey]) {
      to.number(owner === null ? 0 : 1);
      if (owner !== null) to.bytes(owner);
    }
    to.number(market);
    to.number(outcome);
    to.number(acceptedAtMs);
  }
  if (version < rules.fencedIds) return;
  to.number(fencedIds.count);
  for (const { signer, orderId, acceptedAtMs } of fencedIds.inOrder()) {
    to.bytes(signer);
    to.bytes(orderId);
    to.number(acceptedAtMs);
  }
}

/** Reads the rows of `writeFences`. */
export function readFences({ fences, fencedIds, rules: version }: State, from: StateReader): void {
  const count = from.count();
  for (let left = count; left > 0; left -= 1) {
    const signer = from.choice(bits) === 1 ? from.bytes(20) : null;
    const apiKey = from.choice(bits) === 1 ? from.bytes(16) : null;
    const market = from.number(-1, int32Max);
    const outcome = from.number(-1, 1);
    fences.add({ signer, apiKey, market, outcome, acceptedAtMs: from.number(0, safeMax) }, count);
  }
  if (version < rules.fencedIds) return;
  const ids = from.count();
  for (let left = ids; left > 0; left -= 1) {
    const [signer, orderId] = [from.bytes(20), from.bytes(32)];
    const acceptedAtMs = from.number(0, safeMax);
    fencedIds.add({ signer, orderId, acceptedAtMs }, { total: ids, perSigner: ids });
  }
}

function placed(slots: Int32Array, from: StateReader): number {
  return slots[sound(from.number(0, safeMax), 0, slots.length - 1)] as number;
}
