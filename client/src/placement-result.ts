import type { StoredOrder } from '@pm/schemas/http/reading';
import type { PlacementResult } from '@pm/schemas/http/trading';

/** Result of an order. */
export type Placement = Omit<PlacementResult, 'status'> & {
  /**
   * The first result of the order; `canceled` when it was sent before and has left the book since without a fill at
   * once (`order` has its fills).
   */
  readonly status: PlacementResult['status'] | 'canceled';
  /**
   * Set when the order was read: its response was lost, and then `makingAmount` and `takingAmount`, the amounts filled
   * at once, are empty; or it was sent before and has ended since.
   */
  readonly order?: StoredOrder;
};
