#!/usr/bin/env node
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { ExchangeClient } from '@pm/client';
import { readServiceLinks } from '@pm/kit/config';
import { Fault } from '@pm/kit/fault';
import { ServerFactory } from '../server/build-server.io.ts';
import type { Session } from '../server/session.io.ts';
import { DaySpending } from '../trading/day-spending.io.ts';
import { Trader } from '../trading/trader.io.ts';
import { readStdioSettings, type StdioSettings } from './settings.io.ts';

/** The MCP server over stdio, as a client starts it. Standard output belongs to the protocol; notes go to the error. */
function openSession({ exchangeUrl: baseUrl, agentKey, trading }: StdioSettings): Session {
  const headers: Record<string, string> =
    agentKey === null ? {} : { authorization: `Bearer ${agentKey}` };
  const exchange = new ExchangeClient({ baseUrl, headers });
  if (trading === null) return { exchange, own: null, trader: null, noTrading: 'trading_off' };
  const { signer, limits, stateFolder } = trading;
  const spending = new DaySpending(stateFolder, signer.address, limits);
  const trader = new Trader({ baseUrl, signer, limits, spending });
  return { exchange, own: trader, trader, noTrading: 'trading_off' };
}

function complain(line: string): void {
  process.stderr.write(`${line}\n`);
}

/** One line for the user who configured the server. */
function messageOf(error: unknown): string {
  if (error instanceof Fault) return `${error.code} ${JSON.stringify(error.facts)}`;
  return error instanceof Error ? error.message : String(error);
}

function main(): void {
  const settings = readStdioSettings();
  const links = readServiceLinks();
  if (links.length > 0)
    complain(`links of Kubernetes Services are left alone: ${links.join(', ')}`);
  const session = openSession(settings);
  const servers = new ServerFactory({
    error: (facts) => complain(messageOf(Reflect.get(facts, 'err'))),
  });
  serveStdio(() => servers.build(session), { onerror: (error) => complain(error.message) });
  const wallet = session.trader?.wallet;
  complain(
    wallet === undefined
      ? `reading ${settings.exchangeUrl}; trading is off`
      : `reading ${settings.exchangeUrl}; trading for ${wallet}`,
  );
}

try {
  main();
} catch (error) {
  complain(`prediction-exchange-mcp: ${messageOf(error)}`);
  process.exitCode = 2;
}
