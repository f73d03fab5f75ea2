import type { ReserveOutcome } from '@pm/domain/ledger/ledger';
import {
  microText,
  type OrderId,
  orderIdFromBytes,
  type PlacementResult,
  priceText,
  type RefusalCode,
  walletFromBytes,
} from '@pm/schemas';
import type { Caller, SoundOrder } from '../core/check-order.ts';
import type { Attempted } from '../core/order-attempts.ts';
import { type ProvenOrder, placeCommand } from '../core/place-command.ts';
import { answerOf, delayOf, type PlacementAnswer } from '../core/placement-answer.ts';
import { answeredResult, delayedResult, refusedResult } from '../core/placement-result.ts';
import type { CommandOutcome, DoorPorts } from './ports.ts';
import { hold, type Reserved, takeBack } from './reservation.ts';
import type { StageTimes } from './stage-times.ts';

/** Who places, how soon it must be in the book, and who counts the milliseconds. */
export interface Placing {
  readonly caller: Caller;
  /** Time-to-book limit asked for, milliseconds; 0 is the default. */
  readonly ageLimitMs: number;
  readonly times: StageTimes;
}

type RunnerPorts = Pick<
  DoorPorts,
  'answers' | 'delays' | 'partitions' | 'ledger' | 'log' | 'hashes' | 'clock' | 'metrics'
>;

/** A taker delay up to this is waited for, milliseconds; a longer one is answered as `delayed` (conventions.md 4.5). */
const takerDelayWaitMaxMs = 1_000;

/** How long after the end of its delay an order's answer is waited for, milliseconds. */
const delayGraceMs = 1_500;

/** Takes a proven order to the log and back. Never rejects but for broken assumptions. */
export class OrderRunner {
  readonly #ports: RunnerPorts;
  /** Orders on their way: the same one again waits for the same result. Bounded by the queue of the log. */
  readonly #running = new Map<OrderId, Promise<PlacementResult>>();

  constructor(ports: RunnerPorts) {
    this.#ports = ports;
  }

  get running(): number {
    return this.#running.size;
  }

  run(order: ProvenOrder, placing: Placing): Promise<PlacementResult> {
    const orderId = orderIdFromBytes(order.hash);
    const running = this.#running.get(orderId);
    if (running !== undefined) return running;
    const started = this.#start(order, orderId, placing);
    this.#running.set(orderId, started);
    return started.finally(() => this.#running.delete(orderId));
  }

  /** What is kept of an order before it is sent, so that somebody else can ask for it: without any money. */
  attemptOf(order: ProvenOrder, { caller, ageLimitMs }: Placing): Attempted {
    const { partition } = order.sound.token.market;
    const taken = { generation: 0, holdMicro: 0, ageLimitMs };
    return { partition, order: placeCommand(order, caller, taken) };
  }

  /**
   * What became of an order that somebody was about to send. It goes to the log once more: what is known there is told
   * again; what never came is refused as `too_late` for ever, since it was accepted long ago, and null is told.
   */
  async ask({ partition, order }: Attempted): Promise<PlacementResult | null> {
    const orderId = orderIdFromBytes(order.orderId);
    const { keccak } = this.#ports.hashes;
    const known = this.#ports.answers.recall(orderId);
    const facts = factsOfCommand(order, orderId);
    if (known !== undefined) {
      const result = answeredResult(known, facts, keccak);
      return result.code === 'too_late' ? null : result;
    }
    if (!this.#ports.partitions.isReady(partition)) return refusedResult('partition_not_ready');
    const { market, acceptedAtMs } = order;
    const wallet = walletFromBytes(order.maker);
    const asked = { orderId, wallet, partition, kind: 'order', market, acceptedAtMs } as const;
    const reserved = await hold({ ...asked, amountMicro: 0 }, [], this.#ports.ledger);
    if (typeof reserved === 'string') return refusedResult(reserved);
    const outcome = await this.#ports.log.run(partition, order);
    const result = await this.#conclude(outcome, { orderId, facts, reserved });
    return result.code === 'too_late' ? null : result;
  }

  async #start(
    order: ProvenOrder,
    orderId: OrderId,
    { caller, ageLimitMs, times }: Placing,
  ): Promise<PlacementResult> {
    const { sound } = order;
    const facts = factsOf(sound, orderId);
    const { partition } = sound.token.market;
    const known = this.#ports.answers.recall(orderId);
    if (known !== undefined) return answeredResult(known, facts, this.#ports.hashes.keccak);
    const mayBeOld = this.#ports.answers.mayHaveForgotten(sound.form.signedAtMs);
    // Of an order that may be old the matcher decides, as far as it knows the reason.
    const refusal = sound.forbidden ?? (mayBeOld ? null : sound.doubt);
    if (refusal !== null) return refusedResult(refusal.code, { ...facts, ...refusal.facts });
    if (!this.#ports.partitions.isReady(partition)) return refusedResult('partition_not_ready');
    const startedMs = this.#ports.clock.monotonicMs();
    const reserved = await this.#reserve(sound, orderId, caller.arrivedAtMs);
    const reservedMs = this.#ports.clock.monotonicMs();
    times.add('reserve', reservedMs - startedMs);
    if (typeof reserved === 'string') return refusedResult(reserved);
    const { generation, holdMicro } = reserved;
    const command = placeCommand(order, caller, { generation, holdMicro, ageLimitMs });
    const outcome = await this.#ports.log.run(partition, command);
    this.#ports.metrics.stage('result', this.#ports.clock.monotonicMs() - reservedMs);
    if (outcome.kind === 'answered' && outcome.times !== undefined) {
      times.add('log', outcome.times.logMs);
      times.add('match', outcome.times.matchMs);
    }
    return await this.#conclude(outcome, { orderId, facts, reserved });
  }

  /**
   * Holds the money; the refusal when it cannot be held. An order that may have been placed before this process listened, or
   * that is on its way with another hold, goes to the log with nothing held: the matcher gives its first answer again, or
   * refuses it for the money.
   */
  async #reserve(
    { form, token, holdMicro }: SoundOrder,
    orderId: OrderId,
    acceptedAtMs: number,
  ): Promise<Reserved | RefusalCode> {
    const startedMs = this.#ports.clock.monotonicMs();
    const { partition, market } = token.market;
    const wallet = form.maker;
    const kind = 'order';
    const reservation = { orderId, wallet, partition, kind, market, acceptedAtMs } as const;
    const mayBeOld = this.#ports.answers.mayHaveForgotten(form.signedAtMs);
    const askable: readonly ReserveOutcome[] = mayBeOld
      ? ['conflict', 'insufficient']
      : ['conflict'];
    const reserved = await hold(
      { ...reservation, amountMicro: holdMicro },
      askable,
      this.#ports.ledger,
    );
    this.#ports.metrics.stage('reserve', this.#ports.clock.monotonicMs() - startedMs);
    return reserved;
  }

  async #conclude(
    outcome: CommandOutcome,
    order: { orderId: OrderId; facts: Record<string, string>; reserved: Reserved },
  ): Promise<PlacementResult> {
    if (outcome.kind === 'unsent') {
      await takeBack(order.reserved.send, this.#ports.ledger);
      return refusedResult(outcome.code);
    }
    if (outcome.kind === 'pending') return delayedResult(order.orderId);
    if (outcome.kind === 'rejected') return refusedResult('internal_error');
    const answer = await this.#finalAnswer(outcome.events, outcome.place, order.orderId);
    if (answer === null || answer.orderId !== order.orderId) {
      return refusedResult('internal_error');
    }
    const result = answeredResult(answer, order.facts, this.#ports.hashes.keccak);
    const { unfunded } = order.reserved;
    const isOther = result.code === 'insufficient_balance_or_allowance' && unfunded !== result.code;
    return isOther ? refusedResult(unfunded) : result;
  }

  /** Of an order in a short taker delay the answer at its end, when that comes in time. */
  async #finalAnswer(
    events: Parameters<typeof answerOf>[0],
    place: Parameters<typeof answerOf>[1],
    orderId: OrderId,
  ): Promise<PlacementAnswer | null> {
    const answer = answerOf(events, place);
    const delayMs = delayOf(events);
    if (delayMs === null || delayMs > takerDelayWaitMaxMs) return answer;
    return (await this.#ports.delays.finalAnswer(orderId, delayMs + delayGraceMs)) ?? answer;
  }
}

/** What the texts of refusals may mention of an order. */
function factsOf({ amounts, token }: SoundOrder, id: OrderId): Record<string, string> {
  const { tick, minSizeMicro } = token.market;
  return {
    ...factsOfCommand(amounts, id),
    tick: priceText(tick),
    min: microText(minSizeMicro),
  };
}

function factsOfCommand(
  { price, sizeMicro }: { readonly price: number; readonly sizeMicro: number },
  id: OrderId,
): Record<string, string> {
  return { id, price: priceText(price), size: microText(sizeMicro), lot: '0.01' };
}
