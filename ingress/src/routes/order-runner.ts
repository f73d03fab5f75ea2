import { reactionTo } from '@pm/kit/fault';
import {
  apiKeyBytes,
  hexBytes,
  microText,
  type OrderId,
  orderIdFromBytes,
  type PlacementResult,
  type PlaceOrder,
  priceText,
  type RefusalCode,
} from '@pm/schemas';
import type { Caller, SoundOrder } from '../core/check-order.ts';
import { answerOf } from '../core/placement-answer.ts';
import { answeredResult, delayedResult, refusedResult } from '../core/placement-result.ts';
import type { CommandOutcome, DoorPorts } from './ports.ts';

/** An order whose signature was checked; `hash` is its id. */
export interface ProvenOrder {
  readonly sound: SoundOrder;
  readonly hash: Buffer;
}

/** What is in hand for an order on its way. */
interface Reserved {
  readonly generation: number;
  readonly holdMicro: number;
  /** Whether this call holds it, so that it may also give it back. */
  readonly isOurs: boolean;
}

type RunnerPorts = Pick<
  DoorPorts,
  'answers' | 'owners' | 'partitions' | 'ledger' | 'log' | 'hashes' | 'clock' | 'metrics'
>;

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

  run(order: ProvenOrder, caller: Caller): Promise<PlacementResult> {
    const orderId = orderIdFromBytes(order.hash);
    const running = this.#running.get(orderId);
    if (running !== undefined) return running;
    const started = this.#start(order, orderId, caller);
    this.#running.set(orderId, started);
    return started.finally(() => this.#running.delete(orderId));
  }

  async #start(order: ProvenOrder, orderId: OrderId, caller: Caller): Promise<PlacementResult> {
    const facts = factsOf(order.sound, orderId);
    const { partition } = order.sound.token.market;
    // Who signed is proven from here on, so this is where a wallet is bound to its owner.
    const foreign = await this.#ports.owners.claim(order.sound.form.maker, caller.address);
    if (foreign !== null) return refusedResult(foreign);
    const known = this.#ports.answers.recall(orderId);
    if (known !== undefined) return answeredResult(known, facts, this.#ports.hashes.keccak);
    if (!this.#ports.partitions.isReady(partition)) return refusedResult('partition_not_ready');
    const acceptedAtMs = caller.arrivedAtMs;
    const reserved = await this.#reserve(order.sound, orderId, acceptedAtMs);
    if (typeof reserved === 'string') return refusedResult(reserved);
    const startedMs = this.#ports.clock.monotonicMs();
    const { generation, holdMicro } = reserved;
    const command = commandOf(order, caller, { generation, acceptedAtMs, holdMicro });
    const outcome = await this.#ports.log.run(partition, command);
    this.#ports.metrics.stage('result', this.#ports.clock.monotonicMs() - startedMs);
    return this.#conclude(outcome, { orderId, facts, isOurs: reserved.isOurs });
  }

  /**
   * Holds the money; the refusal when it cannot be held. An order that may have been placed before this process listened
   * goes to the log with nothing held: the matcher gives its first answer again, or refuses it for the money.
   */
  async #reserve(
    { form, token, holdMicro }: SoundOrder,
    orderId: OrderId,
    acceptedAtMs: number,
  ): Promise<Reserved | RefusalCode> {
    const startedMs = this.#ports.clock.monotonicMs();
    const { partition } = token.market;
    const reservation = { orderId, wallet: form.maker, amountMicro: holdMicro };
    try {
      const { outcome, generation } = await this.#ports.ledger.reserve({
        ...reservation,
        partition,
        acceptedAtMs,
      });
      if (outcome === 'not_ready') return 'ledger_not_ready';
      if (outcome !== 'insufficient') {
        return { generation, holdMicro, isOurs: outcome === 'reserved' };
      }
      if (!this.#ports.answers.mayHaveForgotten(form.signedAtMs)) {
        return 'insufficient_balance_or_allowance';
      }
      return { generation, holdMicro: 0, isOurs: false };
    } catch (error) {
      if (reactionTo(error) !== 'retry') throw error;
      return 'ledger_not_ready';
    } finally {
      this.#ports.metrics.stage('reserve', this.#ports.clock.monotonicMs() - startedMs);
    }
  }

  async #conclude(
    outcome: CommandOutcome,
    order: { orderId: OrderId; facts: Record<string, string>; isOurs: boolean },
  ): Promise<PlacementResult> {
    if (outcome.kind === 'unsent') {
      if (order.isOurs) await this.#giveBack(order.orderId);
      return refusedResult(outcome.code);
    }
    if (outcome.kind === 'pending') return delayedResult(order.orderId);
    if (outcome.kind === 'rejected') return refusedResult('internal_error');
    const answer = answerOf(outcome.events, outcome.place);
    if (answer === null || answer.orderId !== order.orderId) {
      return refusedResult('internal_error');
    }
    return answeredResult(answer, order.facts, this.#ports.hashes.keccak);
  }

  /** If this fails, the ledger releases the hold itself once the log proves that the order cannot come any more. */
  async #giveBack(orderId: OrderId): Promise<void> {
    try {
      await this.#ports.ledger.cancelReservation(orderId);
    } catch (error) {
      if (reactionTo(error) !== 'retry') throw error;
    }
  }
}

/** What the texts of refusals may mention of an order. */
function factsOf({ amounts, token }: SoundOrder, id: OrderId): Record<string, string> {
  return {
    id,
    price: priceText(amounts.price),
    size: microText(amounts.sizeMicro),
    tick: priceText(token.market.tick),
    min: microText(token.market.minSizeMicro),
    lot: '0.01',
  };
}

function commandOf(
  { sound, hash }: ProvenOrder,
  caller: Caller,
  taken: { generation: number; acceptedAtMs: number; holdMicro: number },
): PlaceOrder {
  const { form, token, amounts } = sound;
  return {
    kind: 'PlaceOrder',
    orderId: hash,
    market: token.market.market,
    outcome: token.outcome,
    side: form.struct.side,
    timeInForce: form.timeInForce,
    postOnly: form.postOnly,
    ...amounts,
    holdMicro: taken.holdMicro,
    generation: taken.generation,
    expiresAtMs: sound.expiresAtMs,
    acceptedAtMs: taken.acceptedAtMs,
    ageLimitMs: 0,
    signedAtMs: form.signedAtMs,
    maker: form.struct.maker,
    // Who really signed: of a deposit wallet the owner, so that one cancel reaches all his orders.
    signer: hexBytes(caller.address),
    apiKey: apiKeyBytes(caller.apiKey),
    builder: form.struct.builder,
    selfTrade: caller.selfTrade,
  };
}
