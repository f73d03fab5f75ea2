import type { Catalog } from '@pm/domain/markets/catalog';
import { groupName } from '@pm/domain/markets/catalog-tables';
import { parseWalletAddress } from '@pm/schemas/ids';

/** Wallets of sites by the site's name in lower case, such as a host (conventions.md 5.6). */
export type CreatorSites = ReadonlyMap<string, readonly string[]>;

/** Sites out of texts like `site=0x...`, each with one of its wallets. */
export function creatorSites(texts: readonly string[]): CreatorSites {
  const sites = new Map<string, readonly string[]>();
  for (const text of texts) {
    const [site = '', wallet = ''] = text.split('=');
    sites.set(site, [...(sites.get(site) ?? []), wallet]);
  }
  return sites;
}

/**
 * Names of the groups of rows that the parameter `creator` stands for: a wallet, or the wallets of a site; none
 * otherwise.
 */
export function creatorGroups(creator: string, sites: CreatorSites): readonly string[] {
  return creatorWallets(creator, sites).map(groupName.creator);
}

export function creatorWallets(creator: string, sites: CreatorSites): readonly string[] {
  const wallet = parseWalletAddress(creator);
  return wallet === null ? (sites.get(creator.toLowerCase()) ?? []) : [wallet];
}

/** Who made markets, as `/events/creators` has it. */
export interface Creator {
  readonly id: string;
  readonly creatorName: string;
  readonly creatorHandle: string;
  readonly creatorUrl: string;
  readonly creatorImage: string;
  readonly createdAt: string;
  readonly updatedAt: string;
}

/** A wallet with markets; its id is the wallet, its name the site it belongs to, if any. */
export function creatorAnswer(catalog: Catalog, wallet: string, sites: CreatorSites): Creator {
  const [site = ''] = [...sites].find(([, wallets]) => wallets.includes(wallet)) ?? [];
  const { firstMs, lastMs } = catalog.creatorTimes(wallet);
  return {
    id: wallet,
    creatorName: site === '' ? wallet : site,
    creatorHandle: wallet,
    creatorUrl: site === '' ? '' : `https://${site}`,
    creatorImage: '',
    createdAt: new Date(firstMs).toISOString(),
    updatedAt: new Date(lastMs).toISOString(),
  };
}
