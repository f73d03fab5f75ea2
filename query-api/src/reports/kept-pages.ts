import type { TradeRow } from '@pm/domain/reports/rows';
import type { TapeSearch } from '@pm/domain/reports/tape-query';
import type { CutoverOffsets, RecentLog } from '../recent/recent-log.ts';
import { noCutover } from '../recent/recent-log.ts';

/** The first trades of a search in front of the cutover: as many as its page could need, or all. */
export interface KeptPage {
  readonly cutover: CutoverOffsets;
  readonly rows: readonly TradeRow[];
}

interface Entry extends KeptPage {
  /** When it was read, on the monotonic clock. */
  readonly readMs: number;
}

/** Trades kept over all pages; about 300 bytes each. */
const keptRowsMax = 20_000;
/** A longer way into a list is read each time. */
const pageRowsMax = 1_000;
/** Longer searches, of many markets, are read each time; characters. */
const nameCharsMax = 500;

/**
 * Stored halves of pages of trades. Stored trades never change, so a half is good for as long as memory has all records
 * from its cutover on, whatever the tables take meanwhile. Bounded; what was kept first goes first.
 */
export class KeptPages {
  readonly #recent: Pick<RecentLog, 'reaches'>;
  readonly #monotonicMs: () => number;
  readonly #kept = new Map<string, Entry>();
  #rows = 0;

  constructor(recent: Pick<RecentLog, 'reaches'>, monotonicMs: () => number) {
    this.#recent = recent;
    this.#monotonicMs = monotonicMs;
  }

  /** Names the pages that may share a half; null for what is read each time. */
  nameOf(search: TapeSearch): string | null {
    const { user, side, takerOnly, least, startS, endS, markets, limit, offset } = search;
    if (offset + limit > pageRowsMax) return null;
    // Not the whole object: that of a request also has the words by which its markets were named.
    const name = JSON.stringify([
      user,
      side,
      takerOnly,
      least,
      startS,
      endS,
      markets,
      limit,
      offset,
    ]);
    return name.length > nameCharsMax ? null : name;
  }

  /** Undefined when it must be read. */
  get(name: string): Entry | undefined {
    const entry = this.#kept.get(name);
    if (entry === undefined || this.#recent.reaches(entry.cutover)) return entry;
    this.#drop(name, entry);
    return undefined;
  }

  keep(name: string, page: KeptPage): void {
    const before = this.#kept.get(name);
    if (before !== undefined) this.#drop(name, before);
    if (page.cutover.length === 0 || page.cutover.includes(noCutover)) return;
    this.#kept.set(name, { ...page, readMs: this.#monotonicMs() });
    this.#rows += page.rows.length + 1;
    for (const [oldest, entry] of this.#kept) {
      if (this.#rows <= keptRowsMax) return;
      this.#drop(oldest, entry);
    }
  }

  #drop(name: string, { rows }: Entry): void {
    this.#kept.delete(name);
    this.#rows -= rows.length + 1;
  }
}
