import type { CatalogEvent, CatalogMarket } from '@pm/schemas/log/catalog';
import { type OperatorProblem, refused } from '../requests.io.ts';
import type { CatalogServices } from './matcher-market.io.ts';
import { eventWeight, marketWeight } from './terms.ts';

type Services = Pick<CatalogServices, 'catalog' | 'traded'>;

/** Whether one of the markets of an event is traded. */
export async function hasTraded(eventId: string, { catalog, traded }: Services): Promise<boolean> {
  for (const market of catalog.marketsOfEvent(eventId))
    if (await traded.isTraded(market)) return true;
  return false;
}

/** Whether the change is one of terms of a traded market; one of what is final is refused anyway. */
export async function changesTerms(
  known: CatalogMarket,
  entry: CatalogMarket,
  { traded }: Services,
): Promise<boolean> {
  return marketWeight(known, entry) === 'terms' && (await traded.isTraded(known));
}

/** Whether the change of an event is one of its terms, and one of its markets is traded. */
export async function changesEventTerms(
  known: CatalogEvent,
  entry: CatalogEvent,
  services: Services,
): Promise<boolean> {
  return eventWeight(known, entry) !== 'free' && (await hasTraded(known.id, services));
}

/** Why a market cannot be changed so: what is final of a traded one stays; null when it can. */
export async function refuseFinal(
  known: CatalogMarket,
  entry: CatalogMarket,
  { traded }: Services,
): Promise<OperatorProblem | null> {
  const isFinal = marketWeight(known, entry) === 'final' && (await traded.isTraded(known));
  return isFinal ? refused('market is traded: its question and outcomes are final') : null;
}
