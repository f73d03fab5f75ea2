import type { CancelReason, CommandOf } from '@pm/schemas';
import type { Limits } from '../../src/core/index.ts';
import { NaivePositions } from './naive-positions.ts';
import { cost, hex, price0, type Remembered, type Resting } from './naive-report.ts';

/** How orders of the naive twin leave the book unfilled: asked for, overdue, or with their market. */
export class NaiveCancels extends NaivePositions {
  protected readonly limits: Limits;
  protected remembered = new Map<string, Remembered>();
  protected operator = false;
  protected cancelsLeft = 0;

  constructor(limits: Limits) {
    super();
    this.limits = limits;
  }

  /** What earlier records had no budget for. */
  protected sweep(): undefined {
    this.expire();
    const ended = [...this.markets.values()].filter(({ mode }) => mode === 'RESOLVED');
    ended.sort((a, b) => a.rules.market - b.rules.market);
    for (const { rules } of ended) this.empty(rules.market);
  }

  protected expire(): undefined {
    const expired = this.resting.filter((one) => this.isOverdue(one));
    expired.sort((a, b) => a.order.expiresAtMs - b.order.expiresAtMs);
    this.cancelAsFarAsMay(expired, 'EXPIRED');
  }

  protected isOverdue({ order }: Resting): boolean {
    return order.timeInForce === 'GTD' && order.expiresAtMs <= this.clock;
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
    for (const one of now) this.cancel(one, reason);
  }

  protected cancelOne(command: CommandOf<'CancelOrder'>): undefined {
    const found = this.resting.find((one) => one.order.orderId.equals(command.orderId));
    if (found?.order.signer.equals(command.signer)) return this.cancel(found, 'USER');
    const known = this.remembered.get(hex(command.orderId));
    const matched = known?.isMatched && known.order.signer.equals(command.signer);
    const code = matched ? 'already_matched' : 'order_not_found';
    this.emit({ kind: 'CancelRefused', command: this.command, orderId: command.orderId, code });
  }

  protected cancelMany(command: CommandOf<'CancelOrders'>): undefined {
    const { signer, apiKey, market, outcome } = command;
    const byOperator = this.operator && market !== -1;
    if (!signer && !apiKey && !byOperator) return this.refuseCommand('invalid_payload');
    const reason = this.operator ? 'MARKET' : command.session ? 'SESSION' : 'USER';
    const asked = this.resting
      .filter(({ order }) => signer?.equals(order.signer) ?? true)
      .filter(({ order }) => apiKey?.equals(order.apiKey) ?? true)
      .filter(({ order }) => market === -1 || order.market === market)
      .filter(({ order }) => outcome === -1 || order.outcome === outcome);
    const isBroke = this.cancelsLeft === 0 || asked.length > this.cancelsLeft;
    this.cancelAsFarAsMay(asked, reason);
    if (isBroke) this.refuseCommand('too_many_open_orders');
  }

  protected cancel(one: Resting, reason: CancelReason): undefined {
    const { orderId, market, maker, apiKey, side, price } = one.order;
    this.resting = this.resting.filter((each) => each !== one);
    this.touch(one.order);
    if (side === 'BUY') this.move(maker, cost(price, one.left), -cost(price, one.left));
    const command = this.command;
    const event = { command, orderId, market, maker, apiKey, reason, restMicro: one.left };
    this.emit({ kind: 'OrderCanceled', ...event });
  }
}
