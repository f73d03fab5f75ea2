import type { Schemas } from '@pm/kit/registry';
import { apiKeyBytes, hexBytes, parseApiKeyId, type WalletAddress } from '@pm/schemas/ids';
import type { CatalogMarket } from '@pm/schemas/log/catalog';
import type { Command } from '@pm/schemas/log/orders';
import { type Topic, topics } from '@pm/schemas/log/topics';

/** Wallets that forged records are about. */
export interface Attacked {
  readonly wallet: WalletAddress;
  /** A contract wallet that has no owner. */
  readonly unbound: WalletAddress;
}

/** Records that revoke the key of a wallet, ban it, make it an owner and bring it money. */
export async function valuesAbout(codecs: Schemas, { wallet, unbound }: Attacked, apiKey: string) {
  const keyId = parseApiKeyId(apiKey);
  if (keyId === null) throw new Error('a key');
  const timeMs = Date.now();
  const credential = {
    apiKey: apiKeyBytes(keyId),
    wallet: hexBytes(wallet),
    nonce: '0',
    version: 0,
    active: false,
    createdAtMs: timeMs,
    revokedAtMs: timeMs,
    keyKind: 'TRADING',
    selfTrade: 'CANCEL_NEWEST',
  } as const;
  const deposit = {
    transferId: Buffer.alloc(32, 9),
    wallet: hexBytes(wallet),
    amountMicro: 1_000_000_000,
    timeMs,
    generation: 0,
  };
  const owner = { boundAtMs: timeMs, boundBy: 'operator' };
  return {
    credential: (await codecs.codecFor(topics.credentials)).encode(credential),
    status: await banOf(codecs, wallet),
    owner: await bindingOf(codecs, { wallet, unbound }, owner),
    deposit: (await codecs.codecFor(topics.transfers)).encode(deposit),
  };
}

/** Records about a market and wallets that only an operator may write, each with its topic and key. */
export async function decisionsAbout(
  codecs: Schemas,
  { wallet, unbound }: Attacked,
  market: CatalogMarket,
): Promise<readonly (readonly [Topic, string, Buffer])[]> {
  const timeMs = Date.now();
  const { conditionId, market: number, partition, epoch } = market;
  const catalog = await codecs.codecFor(topics.catalog);
  const routing = await codecs.codecFor(topics.routing);
  const freezes = await codecs.codecFor(topics.withdrawalFreezes);
  const route = { conditionId, market: number, partition, epoch: epoch + 1 };
  const freeze = { frozen: true, unsound: true, freeMicro: 0, reason: '', changedAtMs: timeMs };
  const owner = { boundAtMs: timeMs, boundBy: 'ann' };
  return [
    [topics.catalog, 'market', catalog.encode({ ...market, question: 'Forged?', active: false })],
    [topics.routing, 'route', routing.encode(route)],
    [topics.walletStatus, wallet, await banOf(codecs, wallet)],
    [topics.walletOwners, unbound, await bindingOf(codecs, { wallet, unbound }, owner)],
    [topics.withdrawalFreezes, wallet, freezes.encode({ wallet: hexBytes(wallet), ...freeze })],
  ];
}

/** A command that halts a market. */
export function haltOf(market: CatalogMarket): Command {
  const { conditionId, market: number } = market;
  const { token0, token1, tick, minSizeMicro, feeRateBps, takerDelayMs } = market;
  const rules = { token0, token1, tick, minSizeMicro, feeRateBps, takerDelayMs, tickOnly: false };
  return { kind: 'SetMarket', market: number, conditionId, ...rules, mode: 'HALTED' };
}

async function banOf(codecs: Schemas, wallet: WalletAddress): Promise<Buffer> {
  const status = { status: 'BANNED', reason: '', changedAtMs: Date.now() } as const;
  const codec = await codecs.codecFor(topics.walletStatus);
  return codec.encode({ wallet: hexBytes(wallet), ...status });
}

async function bindingOf(
  codecs: Schemas,
  { wallet, unbound }: Attacked,
  bound: { readonly boundAtMs: number; readonly boundBy: string },
): Promise<Buffer> {
  const codec = await codecs.codecFor(topics.walletOwners);
  return codec.encode({ wallet: hexBytes(unbound), owner: hexBytes(wallet), ...bound });
}
