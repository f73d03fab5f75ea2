import { createHash } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { demoCatalog } from '../demo/catalog.ts';
import { type DemoMarket, shownMarket } from '../demo/market-maker.ts';
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
 * Lists the recorded markets, returns them and writes them to `marketsFile` for the demo. Can be repeated: later
 * changes and resolutions by the operator stay.
 */
export async function seedCatalog(
  operator: Operator,
  { marketsFile, baseUrl }: { readonly marketsFile: string; readonly baseUrl: string },
  progress: Progress,
): Promise<readonly DemoMarket[]> {
  const recorded = {
    markets: recordedMarkets(),
    quotes: recordedQuotes(),
    trades: recordedTrades(),
  };
  const events = demoCatalog(recorded, baseUrl);
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

/** Makes the first deposit of the demo's wallets and the ten public test accounts. Can be repeated. */
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

/** Time for the demo's first trades to be served. */
const tradingMaxMs = 20_000;
const pollMs = 250;

/**
 * Waits until the shown market has a book and a trade. A market that the operator has closed gets none: then it gives
 * up in time.
 */
export async function waitForTrading(
  baseUrl: string,
  markets: readonly DemoMarket[],
  progress: Progress,
): Promise<void> {
  const market = shownMarket(markets);
  const deadlineMs = performance.now() + tradingMaxMs;
  while (market !== null && performance.now() < deadlineMs) {
    if (await isTraded(baseUrl, market)) return progress(`demo: ${market.slug} is traded`);
    await sleep(pollMs);
  }
  progress('demo: no trade yet');
}

async function isTraded(baseUrl: string, market: DemoMarket): Promise<boolean> {
  try {
    const [book, trades] = await Promise.all(
      [`/book?token_id=${market.tokenIds[0]}`, `/trades?market=${market.conditionId}&limit=1`].map(
        async (target) => (await fetch(baseUrl + target)).json(),
      ),
    );
    const { bids, asks } = book as { readonly bids: unknown[]; readonly asks: unknown[] };
    return bids.length > 1 && asks.length > 1 && (trades as unknown[]).length > 0;
  } catch {
    return false;
  }
}
