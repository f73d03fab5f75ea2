import { type Static, Type } from 'typebox';
import { decimal, text } from './forms.ts';

/** GET /notifications shows so many, the newest, of so many days. */
export const notificationsMax = 100;
export const notificationDays = 7;
/** Deleted ids that are remembered; more than can be shown, so that nothing comes back. */
export const deletedNotificationsMax = 500;

/** The kinds that are told: 1 an order was canceled, 2 an order was filled, 4 a market was resolved. */
export const Notification = Type.Object({
  id: Type.Integer({ minimum: 0, description: 'The same for the same happening, for ever.' }),
  timestamp: Type.Integer({ minimum: 0, description: 'Unix milliseconds.' }),
  type: Type.Union([Type.Literal(1), Type.Literal(2), Type.Literal(4)]),
  owner: text,
  payload: Type.Object({
    asset_id: text,
    condition_id: text,
    eventSlug: text,
    icon: text,
    image: text,
    market: text,
    market_slug: text,
    matched_size: decimal,
    order_id: text,
    original_size: decimal,
    outcome: text,
    outcome_index: Type.Integer({ minimum: 0, maximum: 1 }),
    owner: text,
    price: decimal,
    question: text,
    remaining_size: decimal,
    seriesSlug: text,
    side: text,
    trade_id: text,
    transaction_hash: text,
    type: text,
    reason: Type.Union([text, Type.Null()]),
  }),
});
export type Notification = Static<typeof Notification>;
export type NotificationType = Notification['type'];

export const DeletedNotifications = Type.Object({ deleted: Type.Array(text) });
