import type { IncomingMessage } from 'node:http';
import { answeredHeader, type LogPlaces, placesIn } from './answered-places.ts';
import { trustBy } from './client-address.io.ts';

/** Log places in the earlier responses to the client of a request; null when there are none. */
export type AnsweredTo = (
  request: Pick<IncomingMessage, 'headers'> & {
    readonly socket: Pick<IncomingMessage['socket'], 'remoteAddress'>;
  },
) => LogPlaces | null;

/** As the gateway says it: only headers of `trustedProxies` count, addresses and CIDR networks. */
export function answeredBy(trustedProxies: readonly string[]): AnsweredTo {
  const isTrusted = trustBy(trustedProxies);
  return ({ headers, socket }) => {
    const text = headers[answeredHeader];
    if (text === undefined || !isTrusted(socket.remoteAddress ?? '')) return null;
    const places = placesIn(text);
    return places.size === 0 ? null : places;
  };
}
