import type { CatalogEntry } from '@pm/schemas/log/catalog';
import { leaderboardCategories } from '@pm/schemas/tables/leaderboard-tables';

const tagsOf = Object.values(leaderboardCategories) as readonly (readonly string[])[];

/** The leaderboard categories of markets: those of the tags of their event, and always OVERALL. */
export class MarketCategories {
  readonly #eventOf = new Map<number, string>();
  readonly #tagIdsOf = new Map<string, readonly string[]>();
  readonly #slugOf = new Map<string, string>();

  apply(entry: CatalogEntry): void {
    if (entry.kind === 'CatalogMarket') this.#eventOf.set(entry.market, entry.eventId);
    if (entry.kind === 'CatalogEvent') this.#tagIdsOf.set(entry.id, entry.tagIds);
    if (entry.kind === 'CatalogTag') this.#slugOf.set(entry.id, entry.slug);
  }

  /** Categories as bits, by market; without markets that are in OVERALL only. */
  masks(): readonly (readonly [market: number, mask: number])[] {
    const found: [number, number][] = [];
    for (const [market, eventId] of this.#eventOf) {
      const mask = this.#maskOf(eventId);
      if (mask > 1) found.push([market, mask]);
    }
    return found;
  }

  #maskOf(eventId: string): number {
    const slugs = (this.#tagIdsOf.get(eventId) ?? []).map((id) => this.#slugOf.get(id) ?? '');
    return tagsOf.reduce(
      (mask, tags, bit) => (tags.some((tag) => slugs.includes(tag)) ? mask | (1 << bit) : mask),
      1,
    );
  }
}
