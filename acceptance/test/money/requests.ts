import { StageTimes } from '@pm/domain/requests/stage-times.io';
import { withdraw } from '@pm/domain/wallets/withdrawals.io';
import type { PlacementResult } from '@pm/schemas/http/trading';
import { apiKeyFromBytes } from '@pm/schemas/ids';
import type { Side, TimeInForce } from '@pm/schemas/log/types';
import { holdMicro, notionalMicro } from '@pm/schemas/money';
import { outageOf, type RefusalCode } from '@pm/schemas/refusals';
import {
  identityOf,
  refusedAction,
  requestIdOf,
} from '../../../ingress/src/accounts/account-request.io.ts';
import { carryOutPosition } from '../../../ingress/src/accounts/positions.io.ts';
import { type HttpResponse, idempotent } from '../../../ingress/src/http/idempotency.io.ts';
import type { Caller, CheckedOrder } from '../../../ingress/src/orders/check.ts';
import type { OrderPipeline } from '../../../ingress/src/orders/pipeline.io.ts';
import { batchResponse } from '../../../ingress/src/orders/placement-response.io.ts';
import { Placements } from '../../../ingress/src/orders/placements.io.ts';
import type { IngressProcess } from './ingress-process.ts';
import { openCodes } from './open-codes.ts';
import { BrokenMoney } from './plain-ledger.ts';
import { named, type SimulatedExchange, walletOf } from './simulated-exchange.ts';

/** An order as its wallet signed it; the time in force is not signed. */
export interface SignedContent {
  readonly number: number;
  readonly wallet: number;
  readonly market: number;
  readonly outcome: 0 | 1;
  readonly side: Side;
  readonly timeInForce: TimeInForce;
  readonly price: number;
  readonly lots: number;
  readonly signedAtMs: number;
}

/** A split, merge, redemption or withdrawal as a client asks for it. */
export interface AskedAction {
  readonly action: 'split' | 'merge' | 'redeem' | 'withdrawal';
  readonly wallet: number;
  readonly market: number;
  readonly amountMicro: number;
  /** The client's name for the request. */
  readonly id: string;
}

/**
 * Result of a request as its client knows it: `unknown` before a response, and after one that leaves the result open.
 */
type Knowledge = {
  readonly kind: 'done' | 'refused' | 'unknown';
  readonly amount?: string;
  /** For good, although the log had it when the request began. */
  readonly isWrong?: boolean;
};

interface Slot {
  /** Whether a refusal for good would be wrong: the log has had it since before the request. */
  readonly isOnLog: boolean;
  answer(knowledge: Knowledge): void;
}

/** A request for an order that came to a process, in the order of arrival. */
interface Arrival {
  readonly name: string;
  readonly process: IngressProcess;
}

const unknown: Knowledge = { kind: 'unknown' };

/** Requests of clients, and their answers; at the end of a history it must be true. */
export class Requests {
  readonly orders: SignedContent[] = [];
  readonly actions: AskedAction[] = [];
  count = 0;
  readonly #exchange: SimulatedExchange;
  /** Id on the log as hex text -> what was said to each request that was for it. */
  readonly #answers = new Map<string, Knowledge[]>();
  readonly #arrivals: Arrival[] = [];
  /** Orders that must not be booked any more: they came before a cancel-all that was answered before them. */
  readonly #fenced: Arrival[] = [];
  /** Errors of processes that must not happen. */
  readonly #errors: unknown[] = [];

  constructor(exchange: SimulatedExchange) {
    this.#exchange = exchange;
  }

  /**
   * Places orders in one request. `stale` asks for them with another fee and another time in force, as a process whose
   * catalog is behind and a client that changes its mind would.
   */
  place(
    ingress: number,
    orders: readonly SignedContent[],
    how: {
      readonly key: number;
      readonly stale: boolean;
      readonly retryKey?: string;
      readonly waits?: boolean;
    },
  ): void {
    this.count += orders.length;
    const process = this.#exchange.ingress(ingress);
    const caller = () => this.#caller(process, orders[0]?.wallet ?? 0, how.key);
    const arrived = caller();
    const pipeline = { check: async () => items } as unknown as OrderPipeline;
    const items = orders.map((order) => this.#checked(order, how.stale));
    const metrics = { placed() {}, refused() {} };
    const placements = new Placements({
      pipeline,
      submitter: process.submitter,
      metrics,
      idempotencyKeys: this.#exchange.retries,
      isSubmission: (_item): _item is never => true,
    });
    const placement = {
      caller: arrived,
      acceptedAtMs: arrived.arrivedAtMs,
      ageLimitMs: 0,
      validUntilMs: 0,
      times: new StageTimes(process.clock),
    };
    const slots = orders.map((order) => this.#openOrder(order, process));
    const answer = (results: readonly PlacementResult[]) => {
      for (const [index, slot] of slots.entries()) this.#answerOrder(slot, results[index]);
    };
    const { retryKey } = how;
    if (retryKey === undefined) {
      this.#run(async () => {
        if (how.waits === true) await this.#exchange.calls.park({ label: 'turn', process }, idle);
        const isLate = this.#exchange.defects.arrivesAfterWait === true;
        const counted = isLate ? { ...placement, acceptedAtMs: caller().arrivedAtMs } : placement;
        const placed = await placements.place(orders, counted);
        if (!('code' in placed)) answer(placed);
      });
      return;
    }
    const meaning = orders.map(({ number }) => number).join();
    const whose = { caller: arrived.apiKey, wallet: arrived.address, kind: 'orders' } as const;
    const identity = { ...whose, route: '/orders', key: retryKey, meaning };
    this.#run(() =>
      this.#idempotent(identity, async (attempt): Promise<HttpResponse> => {
        const placed = await placements.place(orders, placement, attempt);
        if (!('code' in placed)) {
          answer(placed);
          return batchResponse(placed);
        }
        const kind = placed.isOpen === true ? 'open' : 'nothing';
        return { kind, status: 503, body: { code: placed.code } };
      }),
    );
  }

  /** Asks for an action; its id, market and amount are what its client says this time. */
  act(ingress: number, asked: AskedAction, key: number): void {
    this.count += 1;
    const exchange = this.#exchange;
    const process = exchange.ingress(ingress);
    const { action, amountMicro } = asked;
    const token = exchange.token(asked.market, 0);
    const wallet = walletOf(asked.wallet);
    const account = { wallet, id: asked.id };
    const condition = action === 'withdrawal' ? '' : token.conditionId;
    const meant = { action, condition, amountMicro };
    const requestId = requestIdOf(account, meant, exchange.keccak);
    const id = requestId.slice(2);
    const slot = this.#open(id, action !== 'withdrawal' && this.#isOnLog(id));
    const caller = this.#caller(process, asked.wallet, key);
    const { clock, ledger, commands, partitions, transfers, pause } = process;
    this.#run(() =>
      this.#idempotent(identityOf(account, meant), async (): Promise<HttpResponse> => {
        if (action === 'withdrawal') {
          const freezes = { isFrozen: () => exchange.frozen.has(wallet) };
          const services = { ledger, transfers, freezes, clock, pause };
          const paid = await withdraw({ transferId: requestId, wallet, amountMicro }, services);
          if (typeof paid !== 'string') {
            slot.answer({ kind: 'done', amount: String(paid.paidMicro) });
            return { kind: 'final', status: 200, body: paid };
          }
          this.#answerCode(slot, paid);
          return refusedAction(paid, { request_id: requestId });
        }
        const bytes = Buffer.from(requestId.slice(2), 'hex');
        const position = { action, requestId: bytes, wallet, token, sizeMicro: amountMicro };
        const work = { asked: position, requestId, caller };
        const response = await carryOutPosition(work, {
          partitions,
          ledger,
          commands,
          unfunded: { waitSeconds: () => null, refused() {} },
        });
        if (response.status === 200) slot.answer({ kind: 'done' });
        else this.#answerCode(slot, (response.body as { code: RefusalCode }).code);
        return response;
      }),
    );
  }

  cancel(ingress: number, { number, wallet, market }: SignedContent): void {
    this.count += 1;
    const { partition } = this.#exchange.market(market);
    const signer = named(20, 1, wallet);
    const command = { kind: 'CancelOrder', orderId: named(32, 6, number), signer } as const;
    this.#run(() => this.#exchange.ingress(ingress).commands.run(partition, command));
  }

  cancelAll(ingress: number, wallet: number, market: number): void {
    this.count += 1;
    const process = this.#exchange.ingress(ingress);
    const { partition } = this.#exchange.market(market);
    const all = { apiKey: null, market: -1, outcome: -1, session: false } as const;
    const acceptedAtMs = process.clock.nowMs();
    const signer = named(20, 1, wallet);
    const command = { kind: 'CancelOrders', ...all, signer, acceptedAtMs } as const;
    const before = [...this.#arrivals];
    this.#run(async () => {
      const { kind } = await process.commands.run(partition, command);
      if (kind === 'executed') this.#fence(before, { process, wallet, partition });
    });
  }

  /** Every answer to a client is what the log says. Throws `BrokenMoney`. */
  judge(): void {
    const [error] = this.#errors;
    if (error !== undefined) throw error;
    const { carriedOut } = this.#exchange.judge;
    for (const [id, answers] of this.#answers) {
      const isOnLog = carriedOut.has(id);
      const isDone = answers.some(({ kind }) => kind === 'done');
      if (isDone && !isOnLog) throw new BrokenMoney(`${id} was confirmed and is not on the log`);
      const isRefused = answers.every(({ kind }) => kind === 'refused');
      if (isRefused && isOnLog) throw new BrokenMoney(`${id} was refused and carried out`);
      const amounts = new Set(answers.flatMap(({ amount }) => amount ?? []));
      if (amounts.size > 1) throw new BrokenMoney(`${id} was paid as ${[...amounts].join()}`);
      const isWrong = answers.some((answer) => answer.isWrong === true);
      if (isWrong) throw new BrokenMoney(`${id} was on the log and refused for good`);
    }
    const booked = this.#fenced.find(({ name }) => carriedOut.has(name));
    if (booked !== undefined)
      throw new BrokenMoney(`${booked.name} was booked behind a cancel-all`);
  }

  /**
   * Orders that no process but this one got, all before the cancel-all, and that are not on the log. Clocks of
   * processes differ, and a fence is as exact as those are.
   */
  #fence(
    before: readonly Arrival[],
    at: { readonly process: IngressProcess; readonly wallet: number; readonly partition: number },
  ): void {
    const isOfCancel = ({ number, wallet, market }: SignedContent) =>
      wallet === at.wallet &&
      this.#exchange.market(market).partition === at.partition &&
      !this.#isOnLog(nameOf(number));
    const names = new Set(this.orders.filter(isOfCancel).map(({ number }) => nameOf(number)));
    for (const arrival of before) if (names.has(arrival.name)) this.#fenced.push(arrival);
    const early = new Set(before);
    const others = this.#arrivals.filter((one) => one.process !== at.process || !early.has(one));
    const open = new Set(others.map(({ name }) => name));
    this.#fenced.splice(
      0,
      this.#fenced.length,
      ...this.#fenced.filter(({ name }) => !open.has(name)),
    );
  }

  #isOnLog(id: string): boolean {
    return this.#exchange.judge.carriedOut.has(id);
  }

  /** A delayed order is on the log before it has a result. */
  #openOrder({ number, market }: SignedContent, process: IngressProcess): Slot {
    const name = nameOf(number);
    this.#arrivals.push({ name, process });
    const isDelayed = this.#exchange.market(market).takerDelayMs > 0;
    return this.#open(name, !isDelayed && this.#isOnLog(name));
  }

  #run(work: () => Promise<unknown>): void {
    work().catch((error: unknown) => this.#errors.push(error));
  }

  #idempotent(
    identity: Parameters<typeof idempotent>[0],
    run: Parameters<typeof idempotent>[2],
  ): Promise<unknown> {
    return idempotent(identity, { keys: this.#exchange.retries, reply }, run);
  }

  /** A request for an id: unknown until it is answered. */
  #open(name: string, isOnLog: boolean): Slot {
    const answers = this.#answers.get(name) ?? [];
    this.#answers.set(name, answers);
    const slot = answers.push(unknown) - 1;
    return {
      isOnLog,
      answer: (knowledge) => {
        answers[slot] = knowledge;
      },
    };
  }

  #answerOrder(slot: Slot, result: PlacementResult | undefined): void {
    if (result === undefined) return;
    if (result.success) slot.answer(result.status === 'delayed' ? unknown : { kind: 'done' });
    else this.#answerCode(slot, result.code as RefusalCode);
  }

  #answerCode(slot: Slot, code: RefusalCode): void {
    const isWrong = slot.isOnLog && outageOf(code) === undefined;
    slot.answer(openCodes.has(code) ? unknown : { kind: 'refused', isWrong });
  }

  #caller(process: IngressProcess, wallet: number, key: number): Caller {
    const nowMs = process.clock.nowMs();
    return {
      apiKey: apiKeyFromBytes(named(16, 2, wallet * 2 + key)),
      address: walletOf(wallet),
      client: '192.0.2.1',
      nowMs,
      arrivedAtMs: nowMs,
      selfTrade: selfTrades[(wallet + key) % selfTrades.length] ?? 'ALLOW',
      covers: { exactBody: true, idempotencyKey: true, query: true },
      answerPlaces: { add() {} },
      statusOf: () => 'NORMAL',
    };
  }

  #checked(order: SignedContent, isStale: boolean): CheckedOrder {
    const token = this.#exchange.token(order.market, order.outcome);
    const { side, price, wallet, number, signedAtMs } = order;
    const timeInForce = isStale && order.timeInForce === 'GTC' ? 'FAK' : order.timeInForce;
    const sizeMicro = order.lots * 10_000;
    const isMarketBuy = side === 'BUY' && (timeInForce === 'FAK' || timeInForce === 'FOK');
    const budgetMicro = isMarketBuy ? notionalMicro(price, sizeMicro) : 0;
    const amounts = { price, sizeMicro, budgetMicro };
    const feeRateBps = token.market.feeRateBps * (isStale ? 2 : 1);
    const maker = named(20, 1, wallet);
    const struct = { side, maker, builder: Buffer.alloc(32), signatureType: 0 };
    const form = { struct, maker: walletOf(wallet), timeInForce, postOnly: false, signedAtMs };
    return {
      kind: 'checked',
      form: form as unknown as CheckedOrder['form'],
      token,
      hash: named(32, 6, number),
      amounts,
      holdMicro: holdMicro({ side, ...amounts, feeRateBps }),
      expiresAtMs: timeInForce === 'GTD' ? signedAtMs + 20_000 : 0,
      refusalIfNew: this.#exchange.resolved.has(order.market)
        ? { kind: 'refused', code: 'market_resolved' }
        : null,
      policyRefusal: null,
    };
  }
}

/** The id of an order on the log as hex text. */
function nameOf(number: number): string {
  return named(32, 6, number).toString('hex');
}

const idle = async (): Promise<void> => {};

const selfTrades = ['ALLOW', 'CANCEL_NEWEST', 'CANCEL_OLDEST', 'CANCEL_BOTH'] as const;

/** Takes a response and forgets it. */
const reply = {
  request: {
    routeOptions: { config: { family: 'clob' } },
    answerPlaces: { all: () => new Map<number, number>() },
  },
  code: () => reply,
  header: () => reply,
  headers: () => reply,
  send: () => reply,
} as unknown as Parameters<typeof idempotent>[1]['reply'];
