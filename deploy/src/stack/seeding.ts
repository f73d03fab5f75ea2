import { createHash } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import type { ImportEvent, ImportResult } from '@pm/schemas';
import { demoCatalog } from '../demo/catalog.ts';
import type { DemoMarket } from '../demo/market-maker.ts';
import { recordedMarkets, recordedQuotes, recordedTrades } from '../demo/recordings.ts';
import {
  demoWalletUsdc,
  makerWallets,
  takerWallets,
  testAccounts,
  testAccountUsdc,
} from '../demo/wallets.ts';
import type { Progress } from '../local/managed-process.ts';
import type { Operator } from './operator.ts';

/** Events in one request: small enough for a progress line every second or so. */
const eventsPerRequest = 40;

/** Lists the recorded markets, and writes what the demo needs to know of them to `marketsFile`. Can be repeated. */
export async function seedCatalog(
  operator: Operator,
  marketsFile: string,
  progress: Progress,
): Promise<void> {
  const events = demoCatalog({
    markets: recordedMarkets(),
    quotes: recordedQuotes(),
    trades: recordedTrades(),
  });
  const markets = await importAll(operator, events, progress);
  const demoMarkets: DemoMarket[] = markets.map((market) => ({
    slug: market.slug,
    conditionId: market.conditionId,
    tokenIds: [market.tokenIds[0] ?? '', market.tokenIds[1] ?? ''],
  }));
  writeFileSync(marketsFile, JSON.stringify(demoMarkets));
}

async function importAll(
  operator: Operator,
  events: readonly ImportEvent[],
  progress: Progress,
): Promise<ImportResult['markets']> {
  const markets: ImportResult['markets'] = [];
  const total = events.reduce((sum, event) => sum + event.markets.length, 0);
  for (let from = 0; from < events.length; from += eventsPerRequest) {
    const result = await operator.importEvents(events.slice(from, from + eventsPerRequest));
    markets.push(...result.markets);
    progress(`catalog: ${markets.length} of ${total} markets`);
  }
  return markets;
}

/** Gives every wallet of the demo, and the ten public test accounts, their first money. Can be repeated. */
export async function seedWallets(operator: Operator, progress: Progress): Promise<void> {
  const first = (wallet: string, amount: string) => ({
    transferId: `0x${createHash('sha256').update(`first deposit of ${wallet}`).digest('hex')}`,
    wallet,
    amount,
  });
  const deposits = [
    ...testAccounts().map((account) => first(account.address, testAccountUsdc)),
    ...[...makerWallets(), ...takerWallets()].map((one) => first(one.address, demoWalletUsdc)),
  ];
  await operator.deposit(deposits);
  progress(`wallets: ${deposits.length} funded`);
}
