import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { checksumAddress } from '@pm/schemas';
import type { DemoMarket } from '../demo/market-maker.ts';
import { recordedQuotes } from '../demo/recordings.ts';
import { testAccountKeys, testAccounts, testAccountUsdc } from '../demo/wallets.ts';
import { rebuildAdvice } from '../setup/tables.ts';
import type { RunningStack } from '../stack/stack.ts';
import { engineTable } from './engines.ts';

/** The one screen a newcomer sees: where the exchange is, who can trade, and what to paste. */
export function welcomeScreen(stack: RunningStack): string {
  const { baseUrl, otherTables } = stack;
  return [
    '',
    `The exchange is open at ${baseUrl}`,
    '',
    `Ten funded test wallets (${testAccountUsdc} USDC each; the public Hardhat keys, never for real money):`,
    ...walletLines(),
    '',
    'Five lines to paste:',
    ...curlLines(stack).map((line) => `  ${line}`),
    '',
    'Engines:',
    ...engineTable(stack.urls)
      .split('\n')
      .map((line) => `  ${line}`),
    '',
    `A first trade:  node client/examples/first-trade.mjs ${baseUrl}      Every read there is:  npm run tour`,
    `Logs: ${stack.logDir}      Processes: npm run stack -- status      Stop: Ctrl-C`,
    ...(otherTables.length === 0 ? [] : ['', `Note: ${rebuildAdvice(otherTables)}`]),
    '',
  ].join('\n');
}

function walletLines(): string[] {
  return testAccounts().map(
    (account, index) => `  ${checksumAddress(account.address)}  key ${testAccountKeys[index]}`,
  );
}

function curlLines(stack: RunningStack): string[] {
  const { baseUrl } = stack;
  const { quoted, traded } = shownMarkets(stack);
  const token = traded.tokenIds[0];
  return [
    `curl '${baseUrl}/book?token_id=${quoted.tokenIds[0]}'`,
    `curl '${baseUrl}/prices-history?market=${token}&interval=1h&fidelity=1'`,
    `curl '${baseUrl}/holders?market=${traded.conditionId}&limit=5'`,
    `curl '${baseUrl}/events?limit=3'`,
    `curl '${baseUrl}/markets/slug/${quoted.slug}'`,
  ];
}

/** A market that is quoted on both sides all day, and one whose recorded trades are played. */
function shownMarkets(stack: RunningStack): { quoted: DemoMarket; traded: DemoMarket } {
  const file = join(stack.logDir, '..', 'demo-markets.json');
  const markets = JSON.parse(readFileSync(file, 'utf8')) as DemoMarket[];
  const bySlug = (slug: string) => markets.find((market) => market.slug === slug) ?? markets[0];
  const quoted = bySlug(busiestQuotedSlug());
  const traded = markets.find((market) => market.slug.includes('no-change-in-fed')) ?? quoted;
  if (quoted === undefined || traded === undefined) throw new RangeError('the demo lists markets');
  return { quoted, traded };
}

function busiestQuotedSlug(): string {
  const counts = new Map<string, number>();
  for (const { slug, bid, ask } of recordedQuotes()) {
    if (bid !== null && ask !== null) counts.set(slug, (counts.get(slug) ?? 0) + 1);
  }
  return [...counts].reduce((best, one) => (one[1] > best[1] ? one : best), ['', 0])[0];
}
