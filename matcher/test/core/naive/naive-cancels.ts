import type { CommandOf, PlaceOrder } from '@pm/schemas/log/orders';
import type { CancelReason } from '@pm/schemas/log/types';
import type { Limits } from '../../../src/core/index.ts';
import { NaivePositions } from './naive-positions.ts';
import { cost, hex, price0, type Remembered, type Resting } from './naive-report.ts';
import { takes } from './naive-rungs.ts';

type Many = CommandOf<'CancelOrders'>;

interface NaiveFencedId {
  readonly signer: string;
  readonly orderId: string;
  readonly untilMs: number;
}

/**
 * How orders of the naive twin leave the book unfilled, or never reach it: asked for, overdue, or with their market.
 */
export class NaiveCancels extends NaivePositions {
  protected readonly opening: CommandOf<'OpenPartition'>;
  protected readonly limits: Limits;
  protected remembered = new Map<string, Remembered>();
  /** Results of ids that are older than the memory: those of open orders are known. */
  protected older = new Map<string, Remembered>();
  protected operator = false;
  protected cancelsLeft = 0;
  protected fences: Many[] = [];
  protected fencedIds: NaiveFencedId[] = [];
  /** Whether the log has the newest rules, or the first. */
  isNewest = false;

  constructor(opening: CommandOf<'OpenPartition'>, limits: Limits) {
    super();
    this.opening = opening;
    this.limits = limits;
    this.clock = opening.timeMs;
    this.ageLimit = opening.bookAgeLimitMs;
  }

  protected expire(): undefined {
    const expired = this.resting.filter((one) => this.isExpired(one));
    expired.sort((a, b) => a.order.expiresAtMs - b.order.expiresAtMs);
    this.cancelAsFarAsMay(expired, 'EXPIRED');
    const late = this.resting.filter(({ judged }) => judged === 'late');
    this.cancelAsFarAsMay(late, 'TOO_LATE');
  }

  private isExpired({ order }: Resting): boolean {
    return order.timeInForce === 'GTD' && order.expiresAtMs <= this.clock;
  }

  protected isOverdue(one: Resting): boolean {
    return this.isExpired(one) || one.judged === 'late';
  }

  /** Everything off the book of a market that has ended. */
  protected empty(market: number): undefined {
    const left = this.resting.filter(({ order }) => order.market === market);
    left.sort((a, b) => price0(a.order) - price0(b.order));
    this.cancelAsFarAsMay(left, 'MARKET');
  }

  protected cancelAsFarAsMay(asked: readonly Resting[], reason: CancelReason): undefined {
    const now = asked.slice(0, this.cancelsLeft);
    this.cancelsLeft -= now.length;
    for (const one of now)
      this.cancel(one, reason === 'EXPIRED' ? this.overdueReason(one) : reason);
  }

  protected overdueReason({ judged }: Resting): CancelReason {
    return judged === 'late' ? 'TOO_LATE' : 'EXPIRED';
  }

  protected cancelOne(command: CommandOf<'CancelOrder'>): undefined {
    const found = this.resting.find((one) => one.order.orderId.equals(command.orderId));
    if (found?.order.signer.equals(command.signer)) return this.cancel(found, 'USER');
    const known = this.remembered.get(hex(command.orderId));
    const matched = known?.isMatched && known.order.signer.equals(command.signer);
    const waits = this.waiting
      .filter(({ order }) => order.orderId.equals(command.orderId))
      .find(({ order }) => order.signer.equals(command.signer));
    const gone = matched ? 'already_matched' : 'order_not_found';
    const stops = waits?.releaseAt === 0 && !takes(waits.order);
    if (stops) waits.canceled = true;
    const code = stops ? 'fenced' : waits ? 'order_delayed' : gone;
    this.emit({ kind: 'CancelRefused', command: this.command, orderId: command.orderId, code });
  }

  protected cancelByIds(command: CommandOf<'CancelByIds'>): undefined {
    let isWhole = true;
    for (const orderId of command.orderIds) {
      const isResting = this.resting.some(
        ({ order }) => order.orderId.equals(orderId) && order.signer.equals(command.signer),
      );
      const one = { kind: 'CancelOrder', orderId, signer: command.signer } as const;
      if (!this.hasSeen(orderId)) isWhole = this.fenceId(orderId, command) && isWhole;
      else if (isResting && this.cancelsLeft === 0) isWhole = false;
      else {
        if (isResting) this.cancelsLeft -= 1;
        this.cancelOne(one);
      }
    }
    if (!isWhole) this.refuseCommand('too_many_open_orders');
  }

  private hasSeen(orderId: Buffer): boolean {
    return this.isOpen(hex(orderId)) || this.remembered.has(hex(orderId));
  }

  protected isOpen(id: string): boolean {
    return [...this.resting, ...this.waiting].some(({ order }) => hex(order.orderId) === id);
  }

  /** Whether there was room for it, if it had to be fenced. */
  private fenceId(orderId: Buffer, { signer, acceptedAtMs }: CommandOf<'CancelByIds'>): boolean {
    const limit = this.opening.bookAgeLimitMs;
    const untilMs = Math.min(acceptedAtMs, this.clock + limit) + limit;
    if (!this.isNewest || acceptedAtMs <= 0 || untilMs < this.clock) return true;
    const asked = { signer: hex(signer), orderId: hex(orderId), untilMs };
    const known = this.fencedIds.find((one) => isSameId(one, asked));
    const others = this.fencedIds.filter((one) => one !== known);
    const own = others.filter((one) => one.signer === asked.signer);
    const { fencedIds, fencedIdsPerSigner } = this.limits;
    if (!known && (others.length >= fencedIds || own.length >= fencedIdsPerSigner)) return false;
    this.fencedIds = [...others, { ...asked, untilMs: Math.max(untilMs, known?.untilMs ?? 0) }];
    return true;
  }

  protected cancelMany(command: CommandOf<'CancelOrders'>): undefined {
    const { signer, apiKey, market } = command;
    const byOperator = this.operator && market !== -1;
    if (!signer && !apiKey && !byOperator) return this.refuseCommand('invalid_payload');
    const isDated = command.session && command.acceptedAtMs > 0;
    if (isDated && command.acceptedAtMs + this.ageLimit < this.clock)
      return this.refuseCommand('too_late');
    const reason = this.operator ? 'MARKET' : command.session ? 'SESSION' : 'USER';
    const fits = this.fence(command);
    for (const one of this.waiting) if (isCovered(one.order, command)) one.canceled = true;
    const asked = this.resting.filter(({ order }) => isCovered(order, command));
    const isBroke = this.cancelsLeft === 0 || asked.length > this.cancelsLeft;
    this.cancelAsFarAsMay(asked, reason);
    if (isBroke || !fits) this.refuseCommand('too_many_open_orders');
  }

  /** Whether there was room for the fence, if one was asked for. */
  private fence(command: Many): boolean {
    const limit = this.opening.bookAgeLimitMs;
    const until = Math.min(command.acceptedAtMs, this.clock + limit);
    const { outcome, market } = command;
    if (command.acceptedAtMs <= 0 || until < this.clock - limit) return true;
    if (market < -1 || ![-1, 0, 1].includes(outcome)) return true;
    const known = this.fences.find((one) => sameScope(one, command));
    const fence = { ...command, acceptedAtMs: Math.max(until, known?.acceptedAtMs ?? 0) };
    if (!known && this.fences.length === this.limits.fences) return false;
    this.fences = [...this.fences.filter((one) => one !== known), fence];
    return true;
  }

  protected isFenced(order: PlaceOrder): boolean {
    const byScope = this.fences.some(
      (fence) => isCovered(order, fence) && order.acceptedAtMs <= fence.acceptedAtMs,
    );
    const named = { signer: hex(order.signer), orderId: hex(order.orderId) };
    return byScope || this.fencedIds.some((one) => isSameId(one, named));
  }

  protected forgetFences(): undefined {
    const limit = this.opening.bookAgeLimitMs;
    this.fences = this.fences.filter((fence) => fence.acceptedAtMs >= this.clock - limit);
    this.fencedIds = this.fencedIds.filter(({ untilMs }) => untilMs >= this.clock);
  }

  protected cancel(one: Resting, reason: CancelReason): undefined {
    const { orderId, market, maker, apiKey } = one.order;
    this.takeOff(one);
    const command = this.command;
    const event = { command, orderId, market, maker, apiKey, reason, restMicro: one.left };
    this.emit({ kind: 'OrderCanceled', ...event });
  }

  protected takeOff(one: Resting): undefined {
    const { maker, side, price } = one.order;
    this.resting = this.resting.filter((each) => each !== one);
    this.touch(one.order);
    if (side === 'BUY') this.move(maker, cost(price, one.left), -cost(price, one.left));
  }
}

function isCovered(order: PlaceOrder, { signer, apiKey, market, outcome }: Many): boolean {
  return (
    (signer?.equals(order.signer) ?? true) &&
    (apiKey?.equals(order.apiKey) ?? true) &&
    (market === -1 || order.market === market) &&
    (outcome === -1 || order.outcome === outcome)
  );
}

function sameScope(a: Many, b: Many): boolean {
  const text = ({ signer, apiKey, market, outcome }: Many): string =>
    [signer && hex(signer), apiKey && hex(apiKey), market, outcome].join();
  return text(a) === text(b);
}

function isSameId(a: Pick<NaiveFencedId, 'signer' | 'orderId'>, b: typeof a): boolean {
  return a.signer === b.signer && a.orderId === b.orderId;
}
