import type { PlaceOrder } from '@pm/schemas/log/orders';
import { orderSizeMaxMicro } from '@pm/schemas/money';
import type { RefusalCode } from '@pm/schemas/refusals';
import { cost, isBid, lot, other, price0, type Resting } from './naive-report.ts';
import { NaiveRules } from './naive-rules.ts';

/** Whom an order of the naive twin would meet, and what would become of it. */
export abstract class NaiveMeetings extends NaiveRules {
  protected whyNotMeet(order: PlaceOrder, canceled: boolean): RefusalCode | null {
    const makers = this.makers(order);
    if (order.timeInForce === 'FOK') return this.whyNotWhole(order, makers);
    const may = Math.min(this.limits.fillsPerOrder, this.fillsLeft);
    const first = this.firstMet(order);
    const before = first ? makers.indexOf(first) : makers.length;
    if (before > may) return 'fill_limit';
    if (order.postOnly) return first ? 'post_only_would_cross' : null;
    if (!first) return this.whyNothing(order, canceled);
    const own = this.isOwn(order, first) && order.selfTrade !== 'ALLOW';
    if (own && order.selfTrade === 'CANCEL_NEWEST') return 'self_trade';
    if (before === may) return 'fill_limit';
    return own ? 'self_trade' : null;
  }

  private whyNothing(order: PlaceOrder, canceled: boolean): RefusalCode | null {
    if (order.timeInForce === 'FAK') return 'fak_not_filled';
    return canceled ? 'fenced' : null;
  }

  /** The first order in the way that is not simply cleared away; for post-only orders nothing of their own is. */
  protected firstMet(order: PlaceOrder): Resting | undefined {
    const clears = order.selfTrade === 'CANCEL_OLDEST' && !order.postOnly;
    return this.makers(order)
      .filter((maker) => !this.isOverdue(maker))
      .find((maker) => !clears || !this.isOwn(order, maker));
  }

  protected isOwn(order: PlaceOrder, maker: Resting): boolean {
    if (this.isOverdue(maker)) return false;
    const isSigner = this.isNewest && maker.order.signer.equals(order.signer);
    return isSigner || maker.order.maker.equals(order.maker);
  }

  protected whyNotWhole(order: PlaceOrder, makers: readonly Resting[]): RefusalCode | null {
    const want = this.wants(order);
    const ends = ['CANCEL_NEWEST', 'CANCEL_BOTH'].includes(order.selfTrade);
    for (const [index, maker] of makers.entries()) {
      if (this.isDone(order, want)) return null;
      const own = this.isOwn(order, maker);
      if (own && ends) return 'self_trade';
      if (index === Math.min(this.limits.fillsPerOrder, this.fillsLeft)) return 'fill_limit';
      const cleared = this.isOverdue(maker) || (own && order.selfTrade === 'CANCEL_OLDEST');
      if (!cleared && this.takeFrom(order, want, maker) === 0) return 'fok_not_filled';
    }
    return this.isDone(order, want) ? null : 'fok_not_filled';
  }

  /** Every resting order it crosses, in the order it meets them. */
  protected makers(order: PlaceOrder): Resting[] {
    const bid = isBid(order);
    const limit = price0(order);
    return this.resting
      .filter((one) => one.order.market === order.market && isBid(one.order) !== bid)
      .filter((one) => (bid ? price0(one.order) <= limit : price0(one.order) >= limit))
      .sort((a, b) => (bid ? 1 : -1) * (price0(a.order) - price0(b.order)));
  }

  protected wants(order: PlaceOrder): { size: number; budget: number } {
    const size = order.budgetMicro ? orderSizeMaxMicro : order.sizeMicro;
    return { size, budget: order.budgetMicro };
  }

  protected isDone(order: PlaceOrder, want: { size: number; budget: number }): boolean {
    return order.budgetMicro ? want.budget < order.price : want.size === 0;
  }

  protected takeFrom(
    order: PlaceOrder,
    want: { size: number; budget: number },
    maker: Resting,
  ): number {
    const price = order.outcome === 0 ? price0(maker.order) : other(price0(maker.order));
    let size = Math.min(want.size, maker.left);
    if (order.budgetMicro) size = Math.min(size, Math.floor(want.budget / price) * lot);
    want.size -= size;
    if (order.budgetMicro) want.budget -= cost(price, size);
    return size;
  }

  /** Outcome for an order in the way of the taker, or for the taker. */
  protected fate(
    order: PlaceOrder,
    maker: Resting,
  ): 'fill' | 'expire' | 'oldest' | 'stop' | 'both' {
    if (this.isOverdue(maker)) return 'expire';
    if (!this.isOwn(order, maker) || order.selfTrade === 'ALLOW') return 'fill';
    if (order.selfTrade === 'CANCEL_OLDEST') return 'oldest';
    return order.selfTrade === 'CANCEL_BOTH' ? 'both' : 'stop';
  }
}
