import type { CatalogEntry, CatalogMarket } from '@pm/schemas';

/** A market of an import, and what it means for the books. */
export interface PlannedMarket {
  readonly entry: CatalogMarket;
  /** `listed` and `ruled` must be set in the matcher first; `reworded` changes words alone. */
  readonly change: 'listed' | 'ruled' | 'reworded' | 'unchanged';
}

/** The place in an import that is wrong (a JSON pointer), and why. */
export interface ImportRefusal {
  readonly kind: 'refused';
  readonly path: string;
  readonly reason: string;
}

/** The dates of an event or market; the name of the one that cannot be read. */
export function readDates(
  sent: { readonly startDate?: string; readonly endDate?: string },
  known: { readonly startDateMs: number; readonly endDateMs: number } | undefined,
  nowMs: number,
): { startDateMs: number; endDateMs: number } | 'startDate' | 'endDate' {
  const startDateMs = readTime(sent.startDate, known?.startDateMs ?? nowMs);
  if (startDateMs === null) return 'startDate';
  const endDateMs = readTime(sent.endDate, known?.endDateMs ?? 0);
  return endDateMs === null ? 'endDate' : { startDateMs, endDateMs };
}

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

function readTime(text: string | undefined, fallbackMs: number): number | null {
  if (text === undefined) return fallbackMs;
  const ms = isoTime.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isSafeInteger(ms) ? ms : null;
}

const isoTime =
  /^\d{4}-\d{2}-\d{2}(?:T\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?(?:Z|[+-]\d{2}:\d{2})?)?$/;

/** Whether two entries say the same, in whatever order of fields; Buffers and lists are compared by content. */
export function sameFacts(left: CatalogEntry, right: CatalogEntry): boolean {
  const names = new Set([...Object.keys(left), ...Object.keys(right)]);
  return [...names].every(
    (name) => JSON.stringify(Reflect.get(left, name)) === JSON.stringify(Reflect.get(right, name)),
  );
}

/** Lower case, with dashes for everything but letters and digits. */
export function slugOf(label: string): string {
  return label
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, '-')
    .replace(/^-+|-+$/g, '');
}
