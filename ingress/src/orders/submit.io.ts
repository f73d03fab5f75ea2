import type { CommandSender } from '@pm/domain/commands/command-channel.io';
import type { DelayedResults } from '@pm/domain/commands/delayed-results.io';
import type { PartitionLiveness } from '@pm/domain/commands/partition-liveness';
import type { ReadOffsets } from '@pm/domain/commands/read-offsets.io';
import type { RecentResults } from '@pm/domain/commands/recent-results-cache';
import type { CommandResult } from '@pm/domain/commands/result-waiters';
import { type Waiter, waiterOf } from '@pm/domain/commands/waiting-shares';
import type { OrderHasher } from '@pm/domain/orders/eip712';
import { delayOf, firstResultOf, type OrderResult } from '@pm/domain/orders/order-result';
import { cancelSend, type Reservations, type Reserved } from '@pm/domain/orders/reservation.io';
import type { Clock } from '@pm/kit/clock';
import { microText, priceText } from '@pm/schemas/decimal';
import type { PlacementResult } from '@pm/schemas/http/trading';
import { type OrderId, orderIdFromBytes } from '@pm/schemas/ids';
import { refusals } from '@pm/schemas/refusals';
import type { Authentication } from '../http/authentication.io.ts';
import type { BookTimes } from '../http/request-headers.ts';
import type { IngressMetrics } from '../metrics.ts';
import type { Caller, CheckedOrder } from './check.ts';
import { placeCommand, type SentOrder } from './command.ts';
import { refusedResponse, responseOf, unconfirmedResponse } from './order-response.ts';
import type { OrderTrace, OrderTraces, TracedRequest } from './order-trace.io.ts';
import { reserveOrder } from './reserve-order.io.ts';
import { isCertainlyLate, settleLateOrder } from './settle-late-order.io.ts';
import type { UnconfirmedOrders } from './unconfirmed-orders.io.ts';
import type { UnfundedRequests } from './unfunded-requests.io.ts';

/** The caller of a context, its time limits, and the clock of its stages. */
export interface PlacementContext extends TracedRequest, BookTimes {
  readonly caller: Caller;
}

export interface OrderSubmitterOptions {
  readonly clock: Pick<Clock, 'monotonicMs' | 'nowMs'>;
  readonly recentResults: Pick<RecentResults, 'recall' | 'mayHaveForgotten'>;
  readonly readOffsets: Pick<ReadOffsets, 'reach' | 'place'>;
  readonly delayedResults: Pick<DelayedResults, 'finalResult'>;
  readonly partitions: Pick<PartitionLiveness, 'at' | 'isReady'>;
  readonly ledger: Pick<Reservations, 'reserve' | 'cancelReservation'>;
  readonly commands: Pick<CommandSender, 'run'>;
  readonly hashes: Pick<OrderHasher, 'keccak'>;
  readonly metrics: Pick<IngressMetrics, 'stage'>;
  readonly authentication: Pick<Authentication, 'freshness'>;
  readonly unfunded: Pick<UnfundedRequests, 'waitSeconds' | 'refused'>;
  readonly unconfirmed: Pick<UnconfirmedOrders, 'follow'>;
  /** Null while nothing is traced. */
  readonly orderTraces?: OrderTraces | null;
}

/**
 * A taker delay up to this is waited for, milliseconds; an order with a longer one is returned as `delayed`
 * (conventions.md 3.13).
 */
const takerDelayWaitMaxMs = 1_000;

/** Time after the end of its delay in which the result of an order is waited for, milliseconds. */
const delayGraceMs = 1_500;

/** Takes a checked order to the log and its result back. Never rejects but for broken assumptions. */
export class OrderSubmitter {
  readonly #options: OrderSubmitterOptions;
  /** Orders on their way: the same one again waits for the same result. Bounded by the queue of the log. */
  readonly #running = new Map<OrderId, Promise<PlacementResult>>();

  constructor(options: OrderSubmitterOptions) {
    this.#options = options;
  }

  submit(order: CheckedOrder, context: PlacementContext): Promise<PlacementResult> {
    const orderId = orderIdFromBytes(order.hash);
    const { answerPlaces } = context.caller;
    return (this.#running.get(orderId) ?? this.#run(order, context, orderId)).finally(() =>
      answerPlaces.add(order.token.market.partition),
    );
  }

  #run(order: CheckedOrder, context: PlacementContext, orderId: OrderId): Promise<PlacementResult> {
    const trace = this.#options.orderTraces?.begin(order, context) ?? null;
    const started = this.#start(order, context, { orderId, trace });
    this.#running.set(orderId, started);
    const { clock } = this.#options;
    if (trace !== null)
      started.then(
        (result) => trace.end(result, clock.monotonicMs()),
        () => {},
      );
    return started.finally(() => this.#running.delete(orderId));
  }

  /**
   * The part of an order that is stored before it is sent, without any money, so that another process can ask for its
   * result.
   */
  sentOrderOf(
    order: CheckedOrder,
    { caller, acceptedAtMs, ageLimitMs }: PlacementContext,
  ): SentOrder {
    const { partition } = order.token.market;
    const unfunded = { generation: 0, holdMicro: 0, acceptedAtMs, ageLimitMs };
    return { partition, order: placeCommand(order, caller, unfunded) };
  }

  /**
   * The result of an order that another attempt was about to send, by the log (`settleLateOrder`); null for one that
   * never came and never will.
   */
  async ask(
    sent: SentOrder,
    { answerPlaces }: Pick<Caller, 'answerPlaces'>,
  ): Promise<PlacementResult | null> {
    const result = await this.#ask(sent);
    answerPlaces.add(sent.partition);
    return result;
  }

  async #ask(sent: SentOrder): Promise<PlacementResult | null> {
    const { partition, order } = sent;
    const orderId = orderIdFromBytes(order.orderId);
    const { recentResults, hashes, partitions } = this.#options;
    const known = recentResults.recall(orderId);
    const facts = amountFacts(order, orderId);
    if (known !== undefined)
      return unlessTooLate(responseOf({ ...known, repeated: true }, facts, hashes.keccak));
    if (!partitions.isReady(partition)) return refusedResponse('partition_not_ready');
    if (!isCertainlyLate(sent, partitions)) return unconfirmedResponse(orderId);
    const answer = await settleLateOrder(sent, this.#options);
    if (typeof answer === 'string') return refusedResponse(answer);
    const { result, reserved } = answer;
    return unlessTooLate(await this.#conclude(result, { orderId, facts, reserved }));
  }

  async #start(
    order: CheckedOrder,
    { caller, acceptedAtMs, ageLimitMs, validUntilMs, times }: PlacementContext,
    { orderId, trace }: { readonly orderId: OrderId; readonly trace: OrderTrace | null },
  ): Promise<PlacementResult> {
    const { clock, recentResults, hashes, commands, metrics } = this.#options;
    const facts = orderFacts(order, orderId);
    const known = recentResults.recall(orderId);
    if (known !== undefined) return responseOf({ ...known, repeated: true }, facts, hashes.keccak);
    const startedMs = clock.monotonicMs();
    const waiter = waiterOf(caller);
    const waitSeconds = this.#options.unfunded.waitSeconds(waiter);
    const isLate = validUntilMs > 0 && clock.nowMs() > validUntilMs;
    const unsent = { order: isLate ? lateOrder(order) : order, orderId, acceptedAtMs, waitSeconds };
    const reserved = await reserveOrder(unsent, this.#options);
    const reservedMs = clock.monotonicMs();
    times.add('reserve', reservedMs - startedMs);
    metrics.stage('reserve', reservedMs - startedMs);
    trace?.stage('reserve', startedMs, reservedMs);
    if ('code' in reserved) {
      const read = recentResults.recall(orderId);
      if (read !== undefined) return responseOf({ ...read, repeated: true }, facts, hashes.keccak);
      if (reserved.code === 'order_unconfirmed') return unconfirmedResponse(orderId);
      return refusedResponse(reserved.code, { ...facts, ...reserved.facts }, reserved);
    }
    const { generation, holdMicro } = reserved;
    const { partition } = order.token.market;
    const command = placeCommand(order, caller, {
      generation,
      holdMicro,
      acceptedAtMs,
      ageLimitMs,
    });
    const onDurable = trace === null ? undefined : trace.sent.bind(trace);
    const waiting = { waiter, mayUseReserve: false, onDurable };
    const result = await commands.run(partition, command, waiting);
    const resultMs = clock.monotonicMs();
    metrics.stage('result', resultMs - reservedMs);
    trace?.stage('result', reservedMs, resultMs);
    times.addLog(result);
    if (holdMicro === 0) this.#noteUnfunded(waiter, result);
    if (result.kind === 'pending') this.#options.unconfirmed.follow({ partition, order: command });
    return await this.#conclude(result, { orderId, facts, reserved });
  }

  #noteUnfunded(waiter: Waiter, result: CommandResult): void {
    if (result.kind !== 'executed') return;
    const first = firstResultOf(result.events, result.place);
    if (first?.kind === 'refused') this.#options.unfunded.refused(waiter, first.code);
  }

  async #conclude(
    result: CommandResult,
    order: { orderId: OrderId; facts: Record<string, string>; reserved: Reserved },
  ): Promise<PlacementResult> {
    if (result.kind === 'unsent') {
      await cancelSend(order.reserved.send, this.#options.ledger);
      return refusedResponse(result.code);
    }
    if (result.kind === 'pending') return unconfirmedResponse(order.orderId);
    if (result.kind === 'rejected') return refusedResponse('internal_error');
    const final = await this.#finalResult(result, order.orderId);
    if (final?.orderId !== order.orderId) return refusedResponse('internal_error');
    const response = responseOf(final, order.facts, this.#options.hashes.keccak);
    const { unfunded, isFirst } = order.reserved;
    if (response.code !== 'insufficient_balance_or_allowance' || unfunded === response.code)
      return response;
    // Another record of it may be on its way with money, and the matcher may book that one.
    const mayBeBooked = !isFirst && refusals[unfunded].final === true;
    return mayBeBooked
      ? unconfirmedResponse(order.orderId)
      : refusedResponse(unfunded, order.facts);
  }

  /**
   * The result of an order; of one that is held for a tick or in a short taker delay the result at its end, when that
   * comes in time.
   */
  async #finalResult(
    { events, place }: Extract<CommandResult, { kind: 'executed' }>,
    orderId: OrderId,
  ): Promise<OrderResult | null> {
    const result = firstResultOf(events, place);
    const delayMs = delayOf(events);
    if (delayMs === null || delayMs > takerDelayWaitMaxMs) return result;
    // After a tick an order may be in a taker delay, of which no event says how long it is.
    const waitMs = (delayMs === 0 ? takerDelayWaitMaxMs : delayMs) + delayGraceMs;
    return (await this.#options.delayedResults.finalResult(orderId, waitMs)) ?? result;
  }
}

/**
 * An order whose own time is over would be refused by its book. An earlier request for it may have been in time, so
 * what was answered then counts. A limit that counts from the arrival says less: an earlier request may arrive later.
 */
function lateOrder(order: CheckedOrder): CheckedOrder {
  return { ...order, refusalIfNew: order.refusalIfNew ?? { kind: 'refused', code: 'too_late' } };
}

function unlessTooLate(response: PlacementResult): PlacementResult | null {
  return response.code === 'too_late' ? null : response;
}

/** The facts that texts of refusals may mention of an order. */
function orderFacts(
  { amounts, token, refusalIfNew }: CheckedOrder,
  id: OrderId,
): Record<string, string> {
  const { tick, minSizeMicro } = token.market;
  const rules = { tick: priceText(tick), min: microText(minSizeMicro) };
  return { ...amountFacts(amounts, id), ...rules, ...refusalIfNew?.facts };
}

function amountFacts(
  { price, sizeMicro }: { readonly price: number; readonly sizeMicro: number },
  id: OrderId,
): Record<string, string> {
  return { id, price: priceText(price), size: microText(sizeMicro), lot: '0.01' };
}
