import { ExchangeClient } from '@pm/client';
import type { Session } from '../server/session.io.ts';
import type { Caller } from './caller.ts';

/** Retries of one read; a tool that waits longer is no use to a model. */
const retry = { firstPauseMs: 100, longestPauseMs: 1_000, totalMs: 5_000 } as const;

/** Reads for one caller, under the caller's own keys and address. It never trades. */
export function openHttpSession(baseUrl: string, caller: Caller, address: string): Session {
  const exchange = new ExchangeClient({
    baseUrl,
    retry,
    headers: {
      // Used by the exchange where it trusts this server as a proxy, so that each caller has limits of its own.
      'x-forwarded-for': address,
      ...(caller.agentKey === null ? {} : { authorization: `Bearer ${caller.agentKey}` }),
    },
    ...(caller.reader === null ? {} : { reader: caller.reader }),
  });
  const own =
    caller.reader === null
      ? null
      : { wallet: caller.reader.address, balances: () => exchange.own.balances() };
  return { exchange, own, trader: null, noTrading: 'trading_not_here' };
}
