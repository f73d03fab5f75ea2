import type { CatalogIndex } from '@pm/domain/catalog/catalog-index';
import { slugOf } from '@pm/domain/catalog/facts';
import type { Keccak } from '@pm/domain/orders/eip712';
import type {
  CatalogEntry,
  CatalogEvent,
  CatalogSeries,
  CatalogTag,
} from '@pm/schemas/log/catalog';
import { type MarketDraft, named } from './market-change.ts';

export interface ChangeContext {
  readonly catalog: CatalogIndex;
  readonly partitions: {
    /** Partitions that are opened. */
    readonly numbers: readonly number[];
    /** Where new markets may be placed. */
    readonly placeable: readonly number[];
  };
  readonly nowMs: number;
  readonly keccak: Keccak;
}

/** Numbers, load and names while a change set is being made; nothing outside of it changes. */
export class ImportDraft implements MarketDraft {
  readonly context: ChangeContext;
  readonly load: Map<number, number>;
  readonly entries: CatalogEntry[] = [];
  readonly names = new Set<string>();
  readonly #last: ReturnType<CatalogIndex['lastNumbers']>;
  readonly #tags = new Map<string, string>();
  readonly #series = new Map<string, string>();
  readonly #groups = new Map<string, Buffer>();

  constructor(context: ChangeContext) {
    this.context = context;
    this.load = context.catalog.openMarketsPerPartition(context.partitions.placeable);
    this.#last = context.catalog.lastNumbers();
  }

  next(kind: 'market' | 'event' | 'tag' | 'series'): number {
    this.#last[kind] += 1;
    return this.#last[kind];
  }

  /** The tag of a label, made when it is new. */
  tagId(label: string): string {
    const slug = slugOf(label);
    const known = this.context.catalog.findTag(slug)?.id ?? this.#tags.get(slug);
    if (known !== undefined) return known;
    const tag = newTag(String(this.next('tag')), label, this.context.nowMs);
    this.#tags.set(slug, tag.id);
    this.entries.push(tag);
    return tag.id;
  }

  /** The series of a title, made when it is new. */
  seriesId(title: string): string {
    const slug = slugOf(title);
    const known = this.context.catalog.findSeries(slug)?.id ?? this.#series.get(slug);
    if (known !== undefined) return known;
    const series = newSeries(String(this.next('series')), title, this.context.nowMs);
    this.#series.set(slug, series.id);
    this.entries.push(series);
    return series.id;
  }

  /**
   * Made of the event's slug for its first such market; then it stays, and another event of that slug gets one of its
   * own.
   */
  groupOf({ id, slug }: CatalogEvent): Buffer {
    const known = this.#groups.get(id) ?? this.context.catalog.groupOfEvent(id);
    const group = known ?? this.#newGroup(id, slug);
    this.#groups.set(id, group);
    return group;
  }

  #newGroup(id: string, slug: string): Buffer {
    const { catalog, keccak } = this.context;
    const group = named(keccak, 'neg-risk', slug);
    return catalog.hasGroup(group) ? named(keccak, 'neg-risk', `${slug}|${id}`) : group;
  }
}

export function newTag(id: string, label: string, nowMs: number): CatalogTag {
  return {
    kind: 'CatalogTag',
    id,
    label,
    slug: slugOf(label),
    requiresTranslation: false,
    createdAtMs: nowMs,
    updatedAtMs: nowMs,
  };
}

export function newSeries(id: string, title: string, nowMs: number): CatalogSeries {
  return {
    kind: 'CatalogSeries',
    id,
    ticker: slugOf(title),
    slug: slugOf(title),
    title,
    seriesType: 'single',
    recurrence: '',
    image: '',
    icon: '',
    active: true,
    closed: false,
    archived: false,
    createdAtMs: nowMs,
    updatedAtMs: nowMs,
  };
}
