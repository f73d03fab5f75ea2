import { StageTimes } from '@pm/domain/requests/stage-times.io';
import { withdraw } from '@pm/domain/wallets/withdrawals.io';
import { ordersPerRequestMax, type PlacementResult } from '@pm/schemas/http/trading';
import { apiKeyFromBytes, hexBytes, type OrderId, orderIdFromBytes } from '@pm/schemas/ids';
import { gtdBookedMinSeconds } from '@pm/schemas/log/log-rules';
import type { Side, TimeInForce } from '@pm/schemas/log/types';
import { holdMicro, notionalMicro } from '@pm/schemas/money';
import type { RefusalCode } from '@pm/schemas/refusals';
import type { Placement } from '../../../client/src/placement-result.ts';
import { requestIdOf } from '../../../ingress/src/accounts/account-request.io.ts';
import { carryOutPosition } from '../../../ingress/src/accounts/positions.io.ts';
import type { Caller, CheckedOrder } from '../../../ingress/src/orders/check.ts';
import type { DefectParts } from '../defect-parts.ts';
import { markets, named, tokenOf, walletOf } from '../exchange-facts.ts';
import type { Machine } from '../time/machine.ts';
import {
  type Answers,
  isAskedAgain,
  type Knowledge,
  knowledgeOf,
  knowledgeOfCode,
} from './answers.ts';
import { type Ingress, keccak, unfunded } from './ingress-machine.ts';
import { NoResponse, OrderClient, type OrderRoutes } from './order-client.ts';
import type { KnownOrder, OrderReads } from './order-reads.ts';

interface Order {
  readonly number: number;
  readonly market: number;
  readonly outcome: 0 | 1;
  readonly side: Side;
  readonly timeInForce: TimeInForce;
  readonly price: number;
  readonly lots: number;
  readonly signedAtMs: number;
}

export interface TraderParts {
  readonly machine: Machine;
  /** Its wallet. */
  readonly number: number;
  readonly answers: Answers;
  /** Each ingress process at this moment; null for one that is down. */
  ingresses(): readonly (Ingress | null)[];
  nextNumber(): number;
  readonly reads: OrderReads;
  readonly parts: DefectParts;
  /** Whether new requests are made; requests that were made are repeated until they have an answer. */
  isOpen(): boolean;
  onError(error: unknown): void;
}

const workers = 4;
const restMs = 500;
const requestTimeoutMs = 6_000;
/** Far more than fit into a run: a client gives a request up only when nothing answers any more. */
const triesMax = 1_000;
const lotMicro = 10_000;

/** A client: it sends requests to any ingress, and repeats what has no definite answer. */
export class Trader {
  readonly #parts: TraderParts;
  readonly #client: OrderClient<Order>;
  #recent: Order[] = [];
  /** Requests without a definite answer. */
  waiting = 0;
  /** Requests that have never got one. */
  givenUp = 0;
  orders = 0;

  constructor(parts: TraderParts) {
    this.#parts = parts;
    const routes: OrderRoutes<Order> = {
      place: (orders, timeoutMs) => this.#request(orders, timeoutMs),
      read: (orderId) => this.#read(orderId),
    };
    this.#client = parts.parts.client(new OrderClient(routes));
    for (let worker = 0; worker < workers; worker += 1)
      parts.machine.enter(() => void this.#work().catch(parts.onError), worker * 50);
  }

  async #work(): Promise<void> {
    const { machine, isOpen } = this.#parts;
    const { random } = machine.scheduler;
    while (isOpen()) {
      await machine.sleep(1 + random.next() * 2 * restMs);
      if (isOpen()) await this.#act(random.below(100));
    }
  }

  #act(dice: number): Promise<void> {
    if (dice < 72) return this.#place();
    if (dice < 82) return this.#cancel();
    if (dice < 86) return this.#cancelAll();
    if (dice < 90) return this.#position('split');
    if (dice < 92) return this.#position('merge');
    if (dice < 96) return this.#deposit();
    return this.#withdraw();
  }

  async #place(): Promise<void> {
    const count = 1 + this.#random.below(ordersPerRequestMax);
    const orders = Array.from({ length: count }, () => this.#newOrder());
    this.orders += count;
    this.#recent = [...orders, ...this.#recent].slice(0, 40);
    let open = new Map(orders.map((order) => [orderIdOf(order), order]));
    await this.#untilAnswered(async () => {
      const said = await this.#client.place(open);
      const entries = [...open].map(([id, order], index) => [id, order, said[index]] as const);
      for (const [, { number }, placement] of entries)
        if (placement) this.#parts.answers.say(named(32, 6, number), saidBy(placement));
      open = new Map(entries.flatMap(([id, order, known]) => (known ? [] : [[id, order]])));
      return open.size === 0;
    });
  }

  /** One request with orders; notes what came back of each. */
  async #request(orders: readonly Order[], timeoutMs: number): Promise<readonly PlacementResult[]> {
    const slots = orders.map(({ number }) => this.#parts.answers.open(named(32, 6, number)));
    const results = await this.#ask((ingress) => this.#submit(ingress, orders), timeoutMs);
    for (const [index, result] of results.entries()) {
      slots[index]?.(knowledgeOf(result), factOf(result));
      this.#parts.answers.code(result.code ?? result.status);
    }
    return results;
  }

  /** A read of the log, which needs no ingress. */
  #read(orderId: OrderId): Promise<KnownOrder | null> {
    const { machine, reads } = this.#parts;
    const late = () => new NoResponse();
    return machine.request({ timeoutMs: requestTimeoutMs, late }, (answer) =>
      answer.resolve(reads.find(orderId)),
    );
  }

  #submit(ingress: Ingress, orders: readonly Order[]): Promise<readonly PlacementResult[]> {
    const caller = this.#callerAt(ingress);
    const placement = {
      caller,
      acceptedAtMs: caller.arrivedAtMs,
      ageLimitMs: this.#random.pick(ageLimitsMs),
      validUntilMs: 0,
      times: new StageTimes(ingress.machine.clock),
    };
    const submit = (order: Order) => ingress.submitter.submit(this.#checked(order), placement);
    return Promise.all(orders.map(submit));
  }

  async #cancel(): Promise<void> {
    const { random } = this.#parts.machine.scheduler;
    if (this.#recent.length === 0) return;
    const isNewest = random.chance(0.5);
    const isByIds = isNewest || random.chance(0.5);
    const order = isNewest ? (this.#recent[0] as Order) : random.pick(this.#recent);
    const { partition } = markets[order.market - 1] as (typeof markets)[number];
    const signer = named(20, 1, this.#parts.number);
    const orderId = named(32, 6, order.number);
    await this.#ask((ingress) => {
      const acceptedAtMs = ingress.machine.clock.nowMs();
      const byIds = { kind: 'CancelByIds', orderIds: [orderId], signer, acceptedAtMs } as const;
      const command = isByIds ? byIds : ({ kind: 'CancelOrder', orderId, signer } as const);
      return ingress.commands.run(partition, command);
    }).catch(() => {});
  }

  async #cancelAll(): Promise<void> {
    const { partition } = this.#random.pick(markets);
    const signer = named(20, 1, this.#parts.number);
    const all = { apiKey: null, market: -1, outcome: -1, session: false } as const;
    await this.#ask((ingress) => {
      const acceptedAtMs = ingress.machine.clock.nowMs();
      const command = { kind: 'CancelOrders', ...all, signer, acceptedAtMs } as const;
      return ingress.commands.run(partition, command);
    }).catch(() => {});
  }

  async #position(action: 'split' | 'merge'): Promise<void> {
    const market = this.#random.pick(markets);
    const token = tokenOf(market, 0);
    const sizeMicro = (1 + this.#random.below(4_000)) * lotMicro;
    const wallet = walletOf(this.#parts.number);
    const account = { wallet, id: `id-${this.#parts.nextNumber()}` };
    const meant = { action, condition: token.conditionId, amountMicro: sizeMicro } as const;
    const requestId = requestIdOf(account, meant, keccak);
    const id = Buffer.from(requestId.slice(2), 'hex');
    const asked = { action, requestId: id, wallet, token, sizeMicro };
    await this.#untilAnswered(async () => {
      const slot = this.#parts.answers.open(id);
      const { status, body } = await this.#ask((ingress) => {
        const { partitions, ledger, commands } = ingress;
        const work = { asked, requestId, caller: this.#callerAt(ingress) };
        return carryOutPosition(work, { partitions, ledger, commands, unfunded });
      });
      if (status !== 200) return this.#refused(slot, (body as { code: RefusalCode }).code);
      slot('done');
      return true;
    });
  }

  async #withdraw(): Promise<void> {
    const amountMicro = (1 + this.#random.below(900)) * lotMicro;
    const wallet = walletOf(this.#parts.number);
    const account = { wallet, id: `id-${this.#parts.nextNumber()}` };
    const meant = { action: 'withdrawal', condition: '', amountMicro } as const;
    const transferId = requestIdOf(account, meant, keccak);
    await this.#untilAnswered(async () => {
      const slot = this.#parts.answers.open(Buffer.from(transferId.slice(2), 'hex'));
      const paid = await this.#ask(({ ledger, transfers, machine }) => {
        const { clock } = machine;
        const freezes = { isFrozen: () => false };
        return withdraw({ transferId, wallet, amountMicro }, { ledger, transfers, freezes, clock });
      });
      if (typeof paid === 'string') return this.#refused(slot, paid);
      slot('done', `paid ${paid.paidMicro}`);
      return true;
    });
  }

  /** As an operator books it: it is confirmed once its record is durable. */
  async #deposit(): Promise<void> {
    const transferId = named(32, 7, this.#parts.nextNumber());
    const amountMicro = (1 + this.#random.below(400)) * lotMicro;
    const wallet = hexBytes(walletOf(this.#parts.number));
    await this.#untilAnswered(async () => {
      const slot = this.#parts.answers.open(transferId);
      const written = await this.#ask(({ transfers, machine }) =>
        transfers.write({
          transferId,
          wallet,
          amountMicro,
          timeMs: machine.clock.nowMs(),
          generation: 0,
        }),
      );
      if (written === 'written') slot('done');
      return written === 'written';
    });
  }

  #refused(slot: (knowledge: Knowledge) => void, code: RefusalCode): boolean {
    const knowledge = knowledgeOfCode(code);
    slot(knowledge);
    this.#parts.answers.code(code);
    return !isAskedAgain(knowledge, code);
  }

  /** Repeats a request until its answer is definite. */
  async #untilAnswered(attempt: () => Promise<boolean>): Promise<void> {
    this.waiting += 1;
    for (let tried = 0; tried < triesMax; tried += 1) {
      const isAnswered = await attempt().catch((error: unknown) => {
        if (error instanceof NoResponse) return false;
        throw error;
      });
      if (isAnswered) {
        this.waiting -= 1;
        return;
      }
      await this.#parts.machine.sleep(100 + this.#random.below(1_500));
    }
    this.givenUp += 1;
  }

  /** A request to one of the ingress processes. Throws `NoResponse`. */
  #ask<T>(work: (ingress: Ingress) => Promise<T>, timeoutMs = requestTimeoutMs): Promise<T> {
    const { machine, ingresses } = this.#parts;
    const late = () => new NoResponse();
    const index = this.#random.below(ingresses().length);
    return machine.request<T>({ timeoutMs, late }, (answer) => {
      const ingress = ingresses()[index] ?? null;
      if (ingress === null) answer.reject(new NoResponse());
      else ingress.machine.enter(() => void work(ingress).then(answer.resolve, answer.reject));
    });
  }

  get #random() {
    return this.#parts.machine.scheduler.random;
  }

  #newOrder(): Order {
    const random = this.#random;
    return {
      number: this.#parts.nextNumber(),
      market: 1 + random.below(markets.length),
      outcome: random.below(2) === 0 ? 0 : 1,
      side: random.chance(0.6) ? 'BUY' : 'SELL',
      timeInForce: random.pick(['GTC', 'GTC', 'GTD', 'FOK', 'FAK']),
      price: 100 * (44 + random.below(13)),
      lots: 100 + random.below(3_000),
      signedAtMs: this.#parts.machine.clock.nowMs(),
    };
  }

  #callerAt({ machine }: Ingress): Caller {
    const nowMs = machine.clock.nowMs();
    const { number } = this.#parts;
    return {
      apiKey: apiKeyFromBytes(named(16, 2, number)),
      address: walletOf(number),
      client: '192.0.2.1',
      nowMs,
      arrivedAtMs: nowMs,
      selfTrade: selfTrades[number % selfTrades.length] ?? 'ALLOW',
      covers: { exactBody: true, idempotencyKey: true, query: true },
      answerPlaces: { add() {} },
      statusOf: () => 'NORMAL',
    };
  }

  /** The order as the checks of ingress return it; they are not part of the simulation. */
  #checked(order: Order): CheckedOrder {
    const token = tokenOf(markets[order.market - 1] as (typeof markets)[number], order.outcome);
    const { side, price, number, signedAtMs, timeInForce } = order;
    const sizeMicro = order.lots * lotMicro;
    const isMarketBuy = side === 'BUY' && (timeInForce === 'FAK' || timeInForce === 'FOK');
    const amounts = {
      price,
      sizeMicro,
      budgetMicro: isMarketBuy ? notionalMicro(price, sizeMicro) : 0,
    };
    const maker = named(20, 1, this.#parts.number);
    const struct = { side, maker, builder: Buffer.alloc(32), signatureType: 0 };
    const wallet = walletOf(this.#parts.number);
    const form = { struct, maker: wallet, timeInForce, postOnly: false, signedAtMs };
    return {
      kind: 'checked',
      form: form as unknown as CheckedOrder['form'],
      token,
      hash: named(32, 6, number),
      amounts,
      holdMicro: holdMicro({ side, ...amounts, feeRateBps: token.market.feeRateBps }),
      expiresAtMs: timeInForce === 'GTD' ? signedAtMs + gtdLifetimeMs : 0,
      refusalIfNew: null,
      policyRefusal: null,
    };
  }
}

/** Time-to-book limits; most orders have that of the exchange. */
const ageLimitsMs = [0, 0, 0, 50, 300, 1_500] as const;

/** Some retries of a GTD order come when less than the least lifetime is left. */
const gtdLifetimeMs = (gtdBookedMinSeconds + 2) * 1_000;

const selfTrades = ['ALLOW', 'CANCEL_NEWEST', 'CANCEL_OLDEST', 'CANCEL_BOTH'] as const;

const orderIdOf = ({ number }: Order): OrderId => orderIdFromBytes(named(32, 6, number));

/** An order that the log has as canceled may have been refused after a delay. */
function saidBy(placement: Placement): Knowledge {
  return placement.order?.status === 'CANCELED' ? 'unknown' : knowledgeOf(placement);
}

/** Content in which all responses to one order must agree; empty for a refusal and for a delayed order. */
function factOf({ success, status, takingAmount, makingAmount }: PlacementResult): string {
  if (!success || status === 'delayed') return '';
  return `${status} ${makingAmount} ${takingAmount}`;
}
