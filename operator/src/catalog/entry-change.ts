import {
  closedAtOf,
  type ImportRefusal,
  inShutEvent,
  isShut,
  readDates,
  refusal,
  type States,
  sameFacts,
  slugOf,
  wordsOf,
} from '@pm/domain/catalog/facts';
import type {
  EventChange,
  MarketChange,
  NewEvent,
  SeriesChange,
  TagChange,
} from '@pm/schemas/http/operator-catalog';
import type {
  CatalogEntry,
  CatalogEvent,
  CatalogMarket,
  CatalogSeries,
  CatalogTag,
} from '@pm/schemas/log/catalog';
import { type ChangeContext, newSeries, newTag } from './change-draft.ts';
import { changeEvent } from './change-set.ts';
import { refusedWords } from './texts.ts';

/** The change set of one entry: the entry last, after the entries that it refers to; empty when nothing changes. */
export interface EntryChangeSet {
  readonly kind: 'planned';
  readonly id: string;
  readonly slug: string;
  readonly entries: readonly CatalogEntry[];
}

type Planned = EntryChangeSet | ImportRefusal;

const metadataMaxChars = 10_000;

/** A new event; refused when its slug is taken. */
export function newEventChange(sent: NewEvent, context: ChangeContext): Planned {
  const words = refusedWords(sent);
  if (words !== null) return words;
  if (context.catalog.findEventBySlug(sent.slug) !== undefined) return taken;
  const planned = changeEvent(sent, context);
  return planned.kind === 'refused' ? planned : planOf(planned.event, planned.others);
}

export function eventChange(
  known: CatalogEvent,
  sent: EventChange,
  context: ChangeContext,
): Planned {
  const words = refusedWords(sent);
  if (words !== null) return words;
  const { slug = known.slug, ticker = known.ticker, title = known.title } = sent;
  if (slug !== known.slug && context.catalog.findEventBySlug(slug) !== undefined) return taken;
  const metadata = metadataText(sent, known);
  if (metadata === null) return metadataTooLong;
  // Words, dates and groups as an import changes them; it knows events by their slug.
  const { startDate, endDate, tags, series } = sent;
  const given = defined({ ...textsOf(sent), startDate, endDate, tags, series });
  const planned = changeEvent({ slug: known.slug, title, ...given }, context);
  if (planned.kind === 'refused') return planned;
  const states = statesOf(sent, known);
  if (isShut(states) && !isShut(known) && hasOpenMarkets(known, context)) {
    return refused(stateNamed(sent), 'is not for an event with open markets', true);
  }
  const closedAtMs = closedAtOf(states, known, context.nowMs);
  const event = { ...planned.event, ...states, closedAtMs, slug, ticker, metadata };
  return changed(known, event, { context, others: planned.others });
}

/**
 * Words and visibility. A market that is not active, or closed or archived, takes no orders; a resolved one stays
 * closed.
 */
export function marketChange(
  known: CatalogMarket,
  sent: MarketChange,
  context: ChangeContext,
): Planned {
  const words = refusedWords(sent);
  if (words !== null) return words;
  const { slug = known.slug, question = known.question, category = known.category } = sent;
  if (slug !== known.slug && context.catalog.findMarketBySlug(slug) !== undefined) return taken;
  if (known.payout0 >= 0 && sent.closed === false) return refused('closed', 'is resolved');
  const states = statesOf(sent, known);
  if (isShut(known) && !isShut(states) && isOfShutEvent(known, context)) {
    return refusal(inShutEvent(stateNamed(sent)), '');
  }
  const { startDate, endDate } = sent;
  const dates = readDates(defined({ startDate, endDate }), known, known);
  if ('field' in dates) return refusal(dates, '');
  const metadata = metadataText(sent, known);
  if (metadata === null) return metadataTooLong;
  const market: CatalogMarket = {
    ...known,
    metadata,
    ...wordsOf(defined(textsOf(sent)), known),
    ...dates,
    ...states,
    closedAtMs: closedAtOf(states, known, context.nowMs),
    slug,
    question,
    groupItemTitle: sent.groupItemTitle ?? known.groupItemTitle,
    category,
    outcome0: sent.outcomes?.[0] ?? known.outcome0,
    outcome1: sent.outcomes?.[1] ?? known.outcome1,
    creator: sent.creator?.toLowerCase() ?? known.creator,
  };
  return changed(known, market, { context, others: [] });
}

/** The free object of an entry as text; null when it is too long. */
function metadataText(
  sent: { readonly metadata?: object },
  known: { readonly metadata: string },
): string | null {
  const text = sent.metadata === undefined ? known.metadata : JSON.stringify(sent.metadata);
  return text.length > metadataMaxChars ? null : text;
}

/** A new tag wants a label; without a slug it is made of the label. */
export function tagChange(
  known: CatalogTag | undefined,
  sent: TagChange,
  context: ChangeContext,
): Planned {
  const words = refusedWords(sent);
  if (words !== null) return words;
  const label = sent.label ?? known?.label;
  if (label === undefined) return refused('label', 'is missing');
  const slug = sent.slug ?? known?.slug ?? slugOf(label);
  if (slug === '') return refused('slug', 'is empty');
  if (slug !== known?.slug && context.catalog.findTag(slug) !== undefined) return taken;
  const { nowMs, catalog } = context;
  const tag = known ?? newTag(String(catalog.lastNumbers().tag + 1), label, nowMs);
  const requiresTranslation = sent.requiresTranslation ?? tag.requiresTranslation;
  return changed(known, { ...tag, label, slug, requiresTranslation }, { context, others: [] });
}

/** A new series wants a title; without a slug it is made of the title. */
export function seriesChange(
  known: CatalogSeries | undefined,
  sent: SeriesChange,
  context: ChangeContext,
): Planned {
  const words = refusedWords(sent);
  if (words !== null) return words;
  const title = sent.title ?? known?.title;
  if (title === undefined) return refused('title', 'is missing');
  const slug = sent.slug ?? known?.slug ?? slugOf(title);
  if (slug === '') return refused('slug', 'is empty');
  if (slug !== known?.slug && context.catalog.findSeries(slug) !== undefined) return taken;
  const { nowMs, catalog } = context;
  const series = known ?? newSeries(String(catalog.lastNumbers().series + 1), title, nowMs);
  const entry = { ...series, ...defined(sent), title, slug };
  return changed(known, entry, { context, others: [] });
}

function changed(
  known: CatalogEntry | undefined,
  entry: CatalogEntry,
  {
    context,
    others,
  }: { readonly context: ChangeContext; readonly others: readonly CatalogEntry[] },
): EntryChangeSet {
  const updatedAtMs = known?.updatedAtMs ?? entry.updatedAtMs;
  if (known !== undefined && sameFacts(known, { ...entry, updatedAtMs })) {
    return { ...planOf(known, []), entries: [] };
  }
  return planOf({ ...entry, updatedAtMs: context.nowMs }, others);
}

function planOf(entry: CatalogEntry, others: readonly CatalogEntry[]): EntryChangeSet {
  const id = entry.kind === 'CatalogMarket' ? String(entry.market) : entry.id;
  return { kind: 'planned', id, slug: entry.slug, entries: [...others, entry] };
}

type SentStates = { readonly [Name in keyof States]?: boolean | undefined };

function statesOf(sent: SentStates, known: States): States {
  return {
    active: sent.active ?? known.active,
    closed: sent.closed ?? known.closed,
    archived: sent.archived ?? known.archived,
  };
}

/** The state that a refusal points at: one that is sent. */
function stateNamed(sent: SentStates): keyof States {
  if (sent.closed !== undefined) return 'closed';
  return sent.archived === undefined ? 'active' : 'archived';
}

function hasOpenMarkets({ id }: CatalogEvent, { catalog }: ChangeContext): boolean {
  return catalog.marketsOfEvent(id).some((market) => !isShut(market));
}

function isOfShutEvent({ eventId }: CatalogMarket, { catalog }: ChangeContext): boolean {
  const event = catalog.findEvent(eventId);
  return event !== undefined && isShut(event);
}

function textsOf({ description, resolutionSource, image, icon }: EventChange | MarketChange) {
  return { description, resolutionSource, image, icon };
}

type Defined<T> = { [Name in keyof T]?: Exclude<T[Name], undefined> };

/** Without what is undefined: it was not sent. */
function defined<T extends object>(sent: T): Defined<T> {
  const entries = Object.entries(sent).filter(([, value]) => value !== undefined);
  return Object.fromEntries(entries) as Defined<T>;
}

function refused(field: string, reason: string, conflicts = false): ImportRefusal {
  return refusal({ field, reason, conflicts }, '');
}

const metadataTooLong = refused('metadata', 'is too long');
const taken = refused('slug', 'is taken', true);
