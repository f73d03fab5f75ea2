import type { Level, LevelChange } from '../market/ladder.ts';

/** The channels of /v1/stream that the console reads, and what their keys are. */
export type Channel = 'book' | 'trades' | 'comments' | 'own';

export interface Subscription {
  readonly channel: Channel;
  /** Token of `book`, condition of `trades`, event of `comments`, empty for `own`. */
  readonly key: string;
}

/** A data message; fields beyond these depend on the channel. */
export interface Message {
  readonly type: 'snapshot' | 'delta' | 'event' | 'checksum';
  readonly channel: string;
  readonly market?: string;
  readonly token?: string;
  readonly event?: string;
  readonly seq: number;
  readonly prev?: number;
  readonly gap?: true;
  readonly time: number;
  readonly bids?: readonly Level[];
  readonly asks?: readonly Level[];
  readonly levels?: readonly LevelChange[];
}

const keyNames: Readonly<Record<Channel, string>> = {
  book: 'tokens',
  trades: 'markets',
  comments: 'events',
  own: '',
};

/** The frame that opens a subscription, after the message `seq` when one was received. */
export function subscribeFrame(id: number, { channel, key }: Subscription, seq: number | null) {
  const keys = channel === 'own' ? {} : { [keyNames[channel]]: [key] };
  return { op: 'subscribe', id, channel, ...keys, ...(seq === null ? {} : { from: { seq } }) };
}

export function unsubscribeFrame(id: number, { channel, key }: Subscription) {
  const keys = channel === 'own' ? {} : { [keyNames[channel]]: [key] };
  return { op: 'unsubscribe', id, channel, ...keys };
}

/** The subscription that a message belongs to. */
export function nameOfMessage({ channel, market, token, event }: Message): string {
  const key = { book: token, trades: market, comments: event, own: '' }[channel as Channel];
  return `${channel} ${key ?? ''}`;
}

export function nameOf({ channel, key }: Subscription): string {
  return `${channel} ${key}`;
}

/**
 * Meaning of a message after the message `last`: `use` it, `skip` one that came again, or `gap` when one is missing.
 */
export function orderOf(message: Message, last: number | null): 'use' | 'skip' | 'gap' {
  if (message.type === 'snapshot') return 'use';
  if (message.type === 'checksum' || last === null) return 'skip';
  if (message.seq <= last) return 'skip';
  return message.prev === undefined || message.prev <= last ? 'use' : 'gap';
}
