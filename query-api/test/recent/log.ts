import type { Execution, ExecutionEvent, Fill } from '@pm/schemas/log/executions';
import { bytesOf, seeded } from '../../../kit/test/seeded.ts';

interface Resting {
  readonly order: number;
  readonly trader: number;
  restMicro: number;
}

const lot = 10_000;

/**
 * A random but sound log of one partition: traders 1 to 4 place buys, some of which meet what rests, and cancel. Order
 * n has the id of n; trader t has wallet t and key t.
 */
export class TinyLog {
  readonly #next: (below: number) => number;
  readonly #resting: Resting[] = [];
  readonly #partition: number;
  #inOffset = 0;
  #order = 0;
  #timeMs = 1_780_000_000_000;

  constructor(seed: number, partition = 0) {
    this.#next = seeded(seed);
    this.#partition = partition;
  }

  record(): Execution {
    this.#timeMs += this.#next(40);
    const events: ExecutionEvent[] = [];
    const count = this.#next(4);
    for (let command = 0; command < count; command += 1) events.push(...this.#command(command));
    return {
      chain: bytesOf(32, 0),
      inOffset: this.#inOffset++,
      timeMs: this.#timeMs,
      keyId: bytesOf(8, 1),
      sequence: this.#inOffset,
      events,
    };
  }

  records(count: number): readonly Execution[] {
    return Array.from({ length: count }, () => this.record());
  }

  #command(command: number): readonly ExecutionEvent[] {
    const dice = this.#next(10);
    if (dice < 2 && this.#resting.length > 0) return [this.#cancel(command)];
    if (dice === 9) return [this.#refuse(command)];
    return this.#place(command);
  }

  #newOrder(): number {
    this.#order += 1;
    return this.#partition * 1_000_000 + this.#order;
  }

  #ids(order: number, trader: number) {
    return {
      orderId: bytesOf(32, order),
      maker: bytesOf(20, trader),
      apiKey: bytesOf(16, trader),
      market: 1 + this.#partition,
    };
  }

  #refuse(command: number): ExecutionEvent {
    const ids = this.#ids(this.#newOrder(), 1 + this.#next(4));
    return { kind: 'OrderRefused', command, ...ids, code: 'too_late' };
  }

  #cancel(command: number): ExecutionEvent {
    const [gone] = this.#resting.splice(this.#next(this.#resting.length), 1);
    const { order = 0, trader = 0, restMicro = 0 } = gone ?? {};
    return {
      kind: 'OrderCanceled',
      command,
      ...this.#ids(order, trader),
      reason: 'USER',
      restMicro,
    };
  }

  #place(command: number): readonly ExecutionEvent[] {
    const order = this.#newOrder();
    const trader = 1 + this.#next(4);
    const sizeMicro = (1 + this.#next(20)) * lot;
    const events: ExecutionEvent[] = [];
    let leftMicro = sizeMicro;
    while (leftMicro > 0 && this.#resting.length > 0 && this.#next(2) === 0) {
      const maker = this.#resting[0] as Resting;
      const filledMicro = Math.min(leftMicro, maker.restMicro);
      leftMicro -= filledMicro;
      maker.restMicro -= filledMicro;
      if (maker.restMicro === 0) this.#resting.shift();
      events.push(this.#fill(command, { order, trader, sizeMicro: filledMicro, maker }));
    }
    if (leftMicro > 0) this.#resting.push({ order, trader, restMicro: leftMicro });
    events.push({
      kind: 'OrderPlaced',
      command,
      ...this.#ids(order, trader),
      outcome: 0,
      side: 'BUY',
      timeInForce: 'GTC',
      postOnly: false,
      price: 5_000,
      sizeMicro,
      expiresAtMs: 0,
      acceptedAtMs: this.#timeMs,
      signer: bytesOf(20, trader),
      builder: bytesOf(32, 0),
      status: leftMicro > 0 ? 'LIVE' : 'MATCHED',
      filledMicro: sizeMicro - leftMicro,
      paidMicro: 0,
      feeMicro: 0,
      restingMicro: leftMicro,
    });
    return events;
  }

  #fill(
    command: number,
    taken: { order: number; trader: number; sizeMicro: number; maker: Resting },
  ): Fill {
    const { order, trader, sizeMicro, maker } = taken;
    return {
      kind: 'Fill',
      command,
      market: 1 + this.#partition,
      match: 'MINT',
      sizeMicro,
      takerOrderId: bytesOf(32, order),
      taker: bytesOf(20, trader),
      takerKey: bytesOf(16, trader),
      takerOutcome: 0,
      takerSide: 'BUY',
      takerPrice: 5_000,
      takerBuilder: bytesOf(32, 0),
      makerOrderId: bytesOf(32, maker.order),
      maker: bytesOf(20, maker.trader),
      makerKey: bytesOf(16, maker.trader),
      makerOutcome: 1,
      makerSide: 'BUY',
      makerPrice: 5_000,
      makerBuilder: bytesOf(32, 0),
      makerRestMicro: maker.restMicro,
      feeMicro: 0,
      feeRateBps: 0,
    };
  }
}
