import type { StreamChannel } from '@pm/schemas/streams/channels';
import type { DataFrame } from './frames.ts';
import type { Subscriber } from './subscription.ts';

/** The field of a frame that has the keys of a channel. */
export const keyNames = {
  book: 'tokens',
  best: 'tokens',
  orders: 'markets',
  trades: 'markets',
  markets: 'markets',
  activity: 'markets',
  comments: 'events',
  own: null,
} as const satisfies Readonly<Record<StreamChannel, string | null>>;

/** Names a subscription among those of a connection. */
export function nameOf({ topic: { channel, key } }: Subscriber): string {
  return `${channel} ${key ?? ''}`;
}

/** Key of a data frame; empty for `own`. */
export function keyOf(frame: DataFrame): string {
  const name = keyNames[frame.channel];
  if (name === 'tokens') return frame.token ?? '';
  if (name === 'markets') return frame.market ?? '';
  return name === 'events' ? (frame.event ?? '') : '';
}
