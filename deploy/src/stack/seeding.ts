import { createHash } from 'node:crypto';
import { writeFileSync } from 'node:fs';
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
import { importCatalog } from './catalog-file.ts';
import type { Operator } from './operator.ts';

/**
 * Lists the recorded markets, returns them and writes them to `marketsFile` for the demo. Can be repeated: later changes and
 * resolutions by the operator stay.
 */
export async function seedCatalog(
  operator: Operator,
  marketsFile: string,
  progress: Progress,
): Promise<readonly DemoMarket[]> {
  const events = demoCatalog({
    markets: recordedMarkets(),
    quotes: recordedQuotes(),
    trades: recordedTrades(),
  });
  const total = events.reduce((sum, event) => sum + event.markets.length, 0);
  const { markets } = await importCatalog(
    { importEvents: operator.importNewEvents },
    events,
    (sofar) => progress(`catalog: ${sofar.markets.length} of ${total} markets`),
  );
  const demoMarkets: DemoMarket[] = markets.map((market) => ({
    slug: market.slug,
    conditionId: market.conditionId,
    tokenIds: [market.tokenIds[0] ?? '', market.tokenIds[1] ?? ''],
  }));
  writeFileSync(marketsFile, JSON.stringify(demoMarkets));
  return demoMarkets;
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
