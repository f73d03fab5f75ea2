// Addresses and traders of the exchange, and functions that the tests of several clients share.
import { setTimeout as sleep } from 'node:timers/promises';
import { createWalletClient, custom, toHex } from 'viem';
import { mnemonicToAccount } from 'viem/accounts';
import { polygonAmoy } from 'viem/chains';

export function setting(name) {
  const value = process.env[name];
  if (value === undefined)
    throw new Error(`${name} is not set: start this by npm run test:clients`);
  return value;
}

/** The exchange itself, and its mounts through the proxy that renames headers. */
export const baseUrl = setting('EXCHANGE_BASE');
export const clobUrl = setting('EXCHANGE_CLOB');
export const gammaUrl = setting('EXCHANGE_GAMMA');
export const dataUrl = setting('EXCHANGE_DATA');

const markets = JSON.parse(setting('EXCHANGE_MARKETS'));
/** Markets and events of the exchange. */
export const marketCount = markets.length;
export const eventCount = Number(setting('EXCHANGE_EVENTS'));

const routes = new Set(setting('EXCHANGE_ROUTES').split(','));

/** Options of a test of these routes: it is skipped, with a visible line, while the exchange does not serve one. */
export function needs(...wanted) {
  const missing = wanted.filter((route) => !routes.has(route));
  return missing.length === 0 ? {} : { skip: `not served yet: ${missing.join(', ')}` };
}

/** A market of the plan by its place in it: { market, conditionId, tokenIds }. */
export const marketAt = (place) => markets[place];

export const chainId = polygonAmoy.id;

/** The public test accounts every Hardhat node starts with; all of them have money here. */
const mnemonic = 'test test test test test test test test test test test junk';
export const accountAt = (index) => mnemonicToAccount(mnemonic, { addressIndex: index });

export const keyAt = (index) => toHex(accountAt(index).getHdKey().privateKey);

/** A wallet that signs without a chain. */
export function walletAt(index) {
  const offline = custom({
    request: () => Promise.reject(new Error('there is no chain here')),
  });
  return createWalletClient({ account: accountAt(index), chain: polygonAmoy, transport: offline });
}

/** Largest lag of projections on a machine with spare capacity. */
const lateMaxMs = 90_000;

/** Waits until a read shows a recent write; the reads are projections of the log. */
export async function eventually(what, read, holds) {
  for (const endMs = Date.now() + lateMaxMs; Date.now() < endMs; ) {
    const value = await read();
    if (holds(value)) return value;
    await sleep(250);
  }
  throw new Error(`never seen: ${what}`);
}
