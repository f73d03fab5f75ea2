import {
  type ChangedMarket,
  type ImportRefusal,
  noEndMs,
  readDates,
  refusal,
  sameFacts,
  wordsOf,
} from '@pm/domain/catalog/facts';
import type { ImportCatalog, ImportEvent, ImportMarket } from '@pm/schemas/http/operator';
import type { CatalogEntry, CatalogEvent, CatalogMarket } from '@pm/schemas/log/catalog';
import { type ChangeContext, ImportDraft } from './change-draft.ts';
import { changeMarketEntry, findListed } from './market-change.ts';
import { refusedWords } from './texts.ts';

export interface ChangeSet {
  readonly kind: 'plan';
  readonly markets: readonly ChangedMarket[];
  /** Tags, series and events that are new or changed, in the order in which they refer to each other. */
  readonly entries: readonly CatalogEntry[];
}

/**
 * The changes of an import, or the first place in it that is wrong; then nothing is written. Known markets and events
 * are found by slug, markets also by condition; what an import leaves out stays as it is.
 */
export function changeSetOf(
  body: ImportCatalog,
  context: ChangeContext,
): ChangeSet | ImportRefusal {
  const draft = new ImportDraft(context);
  const markets: ChangedMarket[] = [];
  for (const [index, event] of body.events.entries()) {
    const path = `/events/${index}`;
    if (draft.names.has(`event:${event.slug}`)) return repeated(`${path}/slug`);
    draft.names.add(`event:${event.slug}`);
    const planned =
      body.onlyNew === true ? planNewOf(event, draft, path) : planAll(event, draft, path);
    if ('kind' in planned) return planned;
    markets.push(...planned);
  }
  return { kind: 'plan', markets, entries: draft.entries };
}

/** An event of an import and its markets, all as the import says. */
function planAll(
  event: ImportEvent,
  draft: ImportDraft,
  path: string,
): readonly ChangedMarket[] | ImportRefusal {
  const planned = planSentEvent(event, draft, path);
  return planned.kind === 'refused' ? planned : planMarkets(event, planned.event, { draft, path });
}

/**
 * An event of an import and its markets, where listed ones stay unchanged: an event is made when it has a new market
 * and is not listed yet.
 */
function planNewOf(
  event: ImportEvent,
  draft: ImportDraft,
  path: string,
): readonly ChangedMarket[] | ImportRefusal {
  const { context } = draft;
  const listed = new Map(event.markets.map((market) => [market, findListed(market, context)]));
  const known = [...listed.values()].filter((entry) => entry !== undefined);
  if (known.length === listed.size) return known.map(unchanged);
  const found = context.catalog.findEventBySlug(event.slug);
  const planned =
    found === undefined
      ? planSentEvent(event, draft, path)
      : ({ kind: 'event', event: found } as const);
  if (planned.kind === 'refused') return planned;
  return planMarkets(event, planned.event, { draft, path, listed });
}

function planSentEvent(event: ImportEvent, draft: ImportDraft, path: string): PlannedEvent {
  return refusedWords(event, path) ?? planEvent(event, draft, path);
}

interface MarketPlace {
  readonly draft: ImportDraft;
  readonly path: string;
  /** Markets that are there and stay as they are. */
  readonly listed?: ReadonlyMap<ImportMarket, CatalogMarket | undefined>;
}

function planMarkets(
  sent: ImportEvent,
  event: CatalogEvent,
  { draft, path, listed }: MarketPlace,
): readonly ChangedMarket[] | ImportRefusal {
  const markets: ChangedMarket[] = [];
  for (const [place, market] of sent.markets.entries()) {
    const entry = listed?.get(market);
    if (entry !== undefined) {
      markets.push(unchanged(entry));
      continue;
    }
    const at = `${path}/markets/${place}`;
    const result = changeMarketEntry({ market, event, category: sent.category }, draft, at);
    if (result.kind === 'refused') return result;
    markets.push(result.planned);
  }
  return markets;
}

function unchanged(entry: CatalogMarket): ChangedMarket {
  return { known: entry, entry, change: 'unchanged' };
}

function repeated(path: string): ImportRefusal {
  return { kind: 'refused', path, reason: 'appears twice in this import' };
}

/** The facts of an event as sent; null removes an end or a series. */
export interface EventFacts extends Omit<ImportEvent, 'markets' | 'endDate' | 'series'> {
  readonly endDate?: string | null;
  readonly series?: string | null;
}

/** Plans the change of one event without its markets: the entries that are new or changed, the event last. */
export function changeEvent(
  sent: EventFacts,
  context: ChangeContext,
):
  | {
      readonly kind: 'planned';
      readonly event: CatalogEvent;
      readonly others: readonly CatalogEntry[];
    }
  | ImportRefusal {
  const draft = new ImportDraft(context);
  const planned = planEvent(sent, draft, '');
  if (planned.kind === 'refused') return planned;
  const others = draft.entries.filter((entry) => entry !== planned.event);
  return { kind: 'planned', event: planned.event, others };
}

type PlannedEvent = { readonly kind: 'event'; readonly event: CatalogEvent } | ImportRefusal;

function planEvent(sent: EventFacts, draft: ImportDraft, path: string): PlannedEvent {
  const { catalog, nowMs } = draft.context;
  const known = catalog.findEventBySlug(sent.slug);
  const dates = readDates(sent, known, { startDateMs: nowMs, endDateMs: noEndMs });
  if ('field' in dates) return refusal(dates, path);
  const event: CatalogEvent = {
    kind: 'CatalogEvent',
    id: known?.id ?? String(draft.next('event')),
    ticker: known?.ticker ?? sent.slug,
    slug: sent.slug,
    title: sent.title,
    ...wordsOf(sent, known),
    ...dates,
    creationDateMs: known?.creationDateMs ?? nowMs,
    createdAtMs: known?.createdAtMs ?? nowMs,
    updatedAtMs: known?.updatedAtMs ?? nowMs,
    active: known?.active ?? true,
    closed: known?.closed ?? false,
    closedAtMs: known?.closedAtMs ?? 0,
    archived: known?.archived ?? false,
    ...groupsOf(sent, known, draft),
    metadata: known?.metadata ?? '{}',
  };
  if (known !== undefined && sameFacts(known, event)) return { kind: 'event', event: known };
  const changed = { ...event, updatedAtMs: nowMs };
  draft.entries.push(changed);
  return { kind: 'event', event: changed };
}

/** Tags, each once, and series: as sent, made when they are new, or as known. */
function groupsOf(
  sent: Pick<EventFacts, 'tags' | 'series'>,
  known: CatalogEvent | undefined,
  draft: ImportDraft,
) {
  const sentIds = sent.tags?.map((label) => draft.tagId(label));
  const tagIds = sentIds === undefined ? (known?.tagIds ?? []) : [...new Set(sentIds)];
  return { tagIds, seriesIds: seriesOf(sent.series, known, draft) };
}

function seriesOf(
  title: string | null | undefined,
  known: CatalogEvent | undefined,
  draft: ImportDraft,
): readonly string[] {
  if (title === null) return [];
  return title === undefined || title === '' ? (known?.seriesIds ?? []) : [draft.seriesId(title)];
}
