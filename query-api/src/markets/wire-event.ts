import { unitsOf } from '@pm/domain/books/quote';
import type { Catalog } from '@pm/domain/markets/catalog';
import type { Figures } from '@pm/domain/markets/figures';
import { closedTimeOf, isoTime } from '@pm/domain/markets/wire-market';
import type { CatalogEvent, CatalogSeries, CatalogTag } from '@pm/schemas/log/catalog';

/** The scalar fields every form of an event has. */
function eventFields(event: CatalogEvent) {
  return {
    id: event.id,
    ticker: event.ticker,
    slug: event.slug,
    title: event.title,
    description: event.description,
    resolutionSource: event.resolutionSource,
    startDate: isoTime(event.startDateMs),
    endDate: isoTime(event.endDateMs),
    image: event.image,
    icon: event.icon,
    active: event.active,
    closed: event.closed,
    archived: event.archived,
    createdAt: isoTime(event.createdAtMs),
    updatedAt: isoTime(event.updatedAtMs),
  };
}

/** An event as it stands inside a market. */
export function eventSummary(event: CatalogEvent) {
  return { ...eventFields(event), creationDate: isoTime(event.creationDateMs) };
}

/** The list form, with the markets its caller made. */
export function listedEvent<M>(catalog: Catalog, event: CatalogEvent, markets: readonly M[]) {
  return { ...eventFields(event), tags: tagsOf(catalog, event), markets };
}

/** The single form. */
export function wholeEvent<M>(catalog: Catalog, event: CatalogEvent, markets: readonly M[]) {
  return {
    ...eventSummary(event),
    tags: tagsOf(catalog, event),
    markets,
    series: event.seriesIds.flatMap((id) => catalog.series(id) ?? []).map(seriesAnswer),
    eventMetadata: metadataOf(event),
  };
}

/** Additional fields of an event by which clients of the mount `/gamma` sort and show events. */
export function familyFigures({ closedAtMs }: CatalogEvent, figures: Figures) {
  return {
    ...closedTimeOf(closedAtMs),
    volume: unitsOf(figures.volumeMicro),
    volume24hr: unitsOf(figures.dayVolumeMicro),
    volume1wk: unitsOf(figures.weekVolumeMicro),
    volume1mo: unitsOf(figures.monthVolumeMicro),
    volume1yr: unitsOf(figures.yearVolumeMicro),
    liquidity: unitsOf(figures.liquidityMicro),
  };
}

/** The free object an event or market carries; anything else that stands there shows as an empty one. */
export function metadataOf({ metadata }: { readonly metadata: string }): object {
  try {
    const value: unknown = JSON.parse(metadata);
    const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
    return isObject ? value : {};
  } catch {
    return {};
  }
}

/** Tags of an event, in its order. */
export function tagsOf(catalog: Catalog, event: CatalogEvent) {
  return event.tagIds.flatMap((id) => catalog.tag(id) ?? []).map(tagAnswer);
}

export function tagAnswer(tag: CatalogTag) {
  return {
    id: tag.id,
    label: tag.label,
    slug: tag.slug,
    createdAt: isoTime(tag.createdAtMs),
    updatedAt: isoTime(tag.updatedAtMs),
    requiresTranslation: tag.requiresTranslation,
  };
}

export function seriesAnswer(series: CatalogSeries) {
  return {
    id: series.id,
    ticker: series.ticker,
    slug: series.slug,
    title: series.title,
    seriesType: series.seriesType,
    recurrence: series.recurrence,
    image: series.image,
    icon: series.icon,
    active: series.active,
    closed: series.closed,
    archived: series.archived,
    createdAt: isoTime(series.createdAtMs),
    updatedAt: isoTime(series.updatedAtMs),
  };
}

const relatedMax = 100;

/** Tags that stand on events together with this one, those on the most events first. */
export function relatedTags(
  catalog: Catalog,
  { id }: CatalogTag,
): readonly { readonly rank: number; readonly other: CatalogTag }[] {
  return [...catalog.relatedTags(id)]
    .sort(([left, much], [right, more]) => more - much || Number(left) - Number(right))
    .flatMap(([otherId]) => catalog.tag(otherId) ?? [])
    .slice(0, relatedMax)
    .map((other, index) => ({ rank: index + 1, other }));
}
