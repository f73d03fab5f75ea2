import type { CatalogEntry, CatalogMarket } from '@pm/schemas/log/catalog';
import { parseTime } from '@pm/schemas/time';
import { feeVersionOf } from './market-rules.ts';

/** A market of an import, and its change for the books. */
export interface ChangedMarket {
  /** The listed market; undefined for a new one. */
  readonly known: CatalogMarket | undefined;
  readonly entry: CatalogMarket;
  /** `listed` and `ruled` must be set in the matcher first; `reworded` changes words alone. */
  readonly change: 'listed' | 'ruled' | 'reworded' | 'unchanged';
}

/**
 * A changed market merged into its latest state: facts that the change set does not change stay as they are now, and a
 * tick that became finer stays so.
 */
export function asItStands(
  { known, entry }: ChangedMarket,
  latest: CatalogMarket | undefined,
): CatalogMarket {
  if (known === undefined || latest === undefined) return entry;
  const changes = Object.entries(entry).filter(([name]) => !sameFact(name, known, entry));
  const merged = { ...latest, ...(Object.fromEntries(changes) as Partial<CatalogMarket>) };
  const tick = Math.min(entry.tick, latest.tick);
  return { ...merged, tick, feeVersion: feeVersionOf(latest, merged) };
}

interface Problem {
  readonly reason: string;
  /** The value is valid, but it conflicts with the catalog. */
  readonly conflicts?: boolean;
}

/** The place in an import that is wrong (a JSON pointer), and why. */
export interface ImportRefusal extends Problem {
  readonly kind: 'refused';
  readonly path: string;
}

/** The field of one entry that is wrong, and why. */
export interface FieldProblem extends Problem {
  readonly field: string;
}

export function refusal({ field, ...problem }: FieldProblem, path: string): ImportRefusal {
  return { kind: 'refused', path: `${path}/${field}`, ...problem };
}

/** The states of an event or market that readers see. */
export interface States {
  readonly active: boolean;
  readonly closed: boolean;
  readonly archived: boolean;
}

/** The fields of a market without a notice of a higher fee. */
export const noNotice = { nextFeeRateBps: -1, feeChangesAtMs: 0 } as const;

/** When an entry that is closed now was closed, Unix milliseconds; 0 while it is open. */
export function closedAtOf(
  { closed }: Pick<States, 'closed'>,
  known: { readonly closed: boolean; readonly closedAtMs: number },
  nowMs: number,
): number {
  if (!closed) return 0;
  return known.closed ? known.closedAtMs : nowMs;
}

/** A market that is shut takes no orders. An event that is shut has no other ones (operator.md). */
export function isShut({ active, closed, archived }: States): boolean {
  return !active || closed || archived;
}

/** Nothing trades in an event that is shut: neither what is new there nor what was shut before. */
export function inShutEvent(field: string): FieldProblem {
  return {
    field,
    reason: 'is of an event that is closed, archived or not active',
    conflicts: true,
  };
}

interface Dates {
  readonly startDateMs: number;
  readonly endDateMs: number;
}

/**
 * The dates of an event or market, or the one that cannot be so. Dates that are neither sent nor known are those of
 * `otherwise`, but a start is not after the end for that; an end of null is none.
 */
export function readDates(
  sent: { readonly startDate?: string; readonly endDate?: string | null },
  known: Dates | undefined,
  otherwise: Dates,
): Dates | FieldProblem {
  const endDateMs = readTime(sent.endDate, (known ?? otherwise).endDateMs);
  if (endDateMs === null) return { field: 'endDate', reason: noTime };
  const latestMs = endDateMs === noEndMs ? otherwise.startDateMs : endDateMs;
  const unnamedMs = known?.startDateMs ?? Math.min(otherwise.startDateMs, latestMs);
  const startDateMs = readTime(sent.startDate, unnamedMs);
  if (startDateMs === null) return { field: 'startDate', reason: noTime };
  const isNamed = sent.startDate !== undefined || sent.endDate !== undefined;
  const isBackward = endDateMs !== noEndMs && endDateMs < startDateMs;
  return isNamed && isBackward ? backward(sent.endDate) : { startDateMs, endDateMs };
}

function backward(endDate: string | null | undefined): FieldProblem {
  return endDate === undefined
    ? { field: 'startDate', reason: 'is behind the end' }
    : { field: 'endDate', reason: 'is before the start' };
}

/** The end of what has none. */
export const noEndMs = 0;
const noTime = 'is no ISO 8601 time';

/** The words an event and a market have in common: as sent, or as known, or empty. */
export function wordsOf(sent: Partial<Words>, known: Words | undefined): Words {
  const word = (name: keyof Words) => sent[name] ?? known?.[name] ?? '';
  return {
    description: word('description'),
    resolutionSource: word('resolutionSource'),
    image: word('image'),
    icon: word('icon'),
  };
}

export interface Words {
  readonly description: string;
  readonly resolutionSource: string;
  readonly image: string;
  readonly icon: string;
}

function readTime(text: string | null | undefined, fallbackMs: number): number | null {
  if (text === undefined) return fallbackMs;
  return text === null ? noEndMs : parseTime(text);
}

/** Whether two entries say the same, in whatever order of fields; Buffers and lists are compared by content. */
export function sameFacts(left: CatalogEntry, right: CatalogEntry): boolean {
  const names = new Set([...Object.keys(left), ...Object.keys(right)]);
  return [...names].every((name) => sameFact(name, left, right));
}

/** Whether a field says the same in two entries; Buffers and lists are compared by content. */
export function sameFact(name: string, left: CatalogEntry, right: CatalogEntry): boolean {
  return JSON.stringify(Reflect.get(left, name)) === JSON.stringify(Reflect.get(right, name));
}

/** Lower case, with dashes for everything but letters and digits. */
export function slugOf(label: string): string {
  return label
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, '-')
    .replace(/^-+|-+$/g, '');
}
