import { type FillFacts, microShares, type OrderFacts } from './order-facts.ts';

/** Terms of an order as its placement, or its delay, states them. */
export interface OrderTerms {
  readonly token: string;
  readonly side: string;
  readonly type: string;
  readonly price: string;
  readonly size: string;
}

/** Event of an order: the same steps in the log, in the channel `own` and in `order_events`. */
export type OrderStep = {
  readonly id: string;
  readonly wallet: string;
  readonly market: string;
} & (
  | { readonly kind: 'placed'; readonly terms: OrderTerms; readonly status: string }
  | { readonly kind: 'delayed'; readonly terms: OrderTerms }
  | { readonly kind: 'refused' | 'canceled'; readonly reason: string }
  /** A fill of a resting order. */
  | { readonly kind: 'filled'; readonly resting: string }
);

interface Known {
  readonly wallet: string;
  readonly market: string;
  terms: OrderTerms | null;
  wasDelayed: boolean;
  status: string;
  readonly reasons: string[];
  readonly fills: FillFacts[];
}

/** Folds steps and fills into orders by the rules of docs/trading/order-lifecycle.md, and keeps every end it meets. */
export class OrderFold {
  readonly #orders = new Map<string, Known>();

  step(step: OrderStep): void {
    const order = this.#orderOf(step);
    switch (step.kind) {
      case 'placed':
        order.terms = step.terms;
        order.status = step.status;
        if (step.status === 'MATCHED') order.reasons.push('matched');
        if (step.status === 'CANCELED') order.reasons.push(restReason(order, step.terms));
        break;
      case 'delayed':
        order.terms = step.terms;
        order.wasDelayed = true;
        order.status = 'DELAYED';
        break;
      case 'refused':
        order.status = order.wasDelayed ? 'CANCELED' : 'REFUSED';
        order.reasons.push(step.reason);
        break;
      case 'canceled':
        order.status = 'CANCELED';
        order.reasons.push(step.reason.toLowerCase());
        break;
      case 'filled':
        if (microShares(step.resting) > 0) break;
        order.status = 'MATCHED';
        order.reasons.push('matched');
        break;
    }
  }

  fill(order: { readonly id: string; wallet: string; market: string }, fill: FillFacts): void {
    this.#orderOf(order).fills.push(fill);
  }

  orders(): ReadonlyMap<string, OrderFacts> {
    return new Map([...this.#orders].map(([id, order]) => [id, factsOf(order)]));
  }

  #orderOf({ id, wallet, market }: { id: string; wallet: string; market: string }): Known {
    const known = this.#orders.get(id);
    if (known !== undefined) return known;
    const fresh = {
      wallet,
      market,
      terms: null,
      wasDelayed: false,
      status: 'UNKNOWN',
      reasons: [],
      fills: [],
    };
    this.#orders.set(id, fresh);
    return fresh;
  }
}

/** A rest that may not stay ends with its placement, without a step of its own. */
function restReason({ wasDelayed }: Known, { type }: OrderTerms): string {
  return type === 'FAK' || type === 'FOK' || wasDelayed ? 'remainder' : 'self_trade';
}

function factsOf({ wallet, market, terms, status, reasons, fills }: Known): OrderFacts {
  return {
    wallet,
    market,
    token: terms?.token ?? null,
    side: terms?.side ?? null,
    type: terms?.type ?? null,
    price: terms?.price ?? null,
    size: terms?.size ?? null,
    status,
    filledMicro: fills.reduce((sum, { size }) => sum + microShares(size), 0),
    reasons,
    fills,
  };
}
