import MiniSearch, { type SearchResult } from 'minisearch';
import type { Catalog } from '../core/catalog.ts';
import type { SearchMatch } from '../core/search.ts';
import { isCommon, type SearchWords, wordsIn } from '../core/search-words.ts';
import type { SearchReads } from '../routes/ports.ts';

/** What is indexed of an event: more would cost memory and find less. */
const QUESTIONS_MAX_CHARS = 4_000;
const DESCRIPTION_MAX_CHARS = 600;
/** Events taken in before others get their turn on the thread. */
const EVENTS_AT_ONCE = 20;
/** How often changes of the catalog are taken in, milliseconds. */
const CATCH_UP_EVERY_MS = 250;
/** Searches whose matches are kept until the index changes. */
const KEPT_SEARCHES_MAX = 200;
/** Shorter words are not completed: they would match too much. */
const PREFIX_MIN_CHARS = 3;
const LAST_PREFIX_MIN_CHARS = 2;
/** Edits that are forgiven, as a share of a word's length, when nothing matches as it is. */
const FUZZY_SHARE = 0.2;
const FUZZY_MIN_CHARS = 4;

interface Document {
  readonly id: string;
  readonly title: string;
  readonly questions: string;
  readonly description: string;
}

/**
 * The inverted index of events, built from the catalog beside everything else and kept up with it. Its answers lag behind
 * the catalog by some hundred milliseconds.
 */
export class SearchStore implements SearchReads {
  readonly #catalog: Catalog;
  readonly #titles = new Map<string, string>();
  readonly #waiting = new Set<string>();
  readonly #kept = new Map<string, readonly SearchMatch[]>();
  readonly #index = new MiniSearch<Document>({
    fields: ['title', 'questions', 'description'],
    tokenize: (text) => [...wordsIn(text)],
    // Common words count in titles alone; a search drops them unless it has no others.
    processTerm: (term, field) => (isIndexed(field) && isCommon(term) ? null : term),
  });
  readonly #timer: NodeJS.Timeout;
  #isReady = false;
  #work: Promise<void> | null = null;

  constructor(catalog: Catalog) {
    this.#catalog = catalog;
    this.#timer = setInterval(() => void this.catchUp(), CATCH_UP_EVERY_MS);
  }

  /** False until everything that was in the catalog at first is in the index. */
  get isReady(): boolean {
    return this.#isReady;
  }

  /** Events in the index. */
  get size(): number {
    return this.#titles.size;
  }

  close(): void {
    clearInterval(this.#timer);
  }

  /** Takes in what has changed in the catalog, a little at a time; resolves when nothing waits any more. */
  catchUp(): Promise<void> {
    this.#work ??= this.#takeAll().finally(() => {
      this.#work = null;
    });
    return this.#work;
  }

  find(words: SearchWords): readonly SearchMatch[] {
    const kept = this.#kept.get(words.text);
    if (kept !== undefined) return kept;
    const exact = this.#search(words, false);
    const matches = exact.length > 0 ? exact : this.#search(words, true);
    if (this.#kept.size >= KEPT_SEARCHES_MAX) this.#kept.clear();
    this.#kept.set(words.text, matches);
    return matches;
  }

  #search({ telling }: SearchWords, isFuzzy: boolean): readonly SearchMatch[] {
    if (telling.length === 0) return [];
    const found = this.#index.search(telling.join(' '), {
      combineWith: 'AND',
      prefix: (term, index, terms) =>
        term.length >= (index === terms.length - 1 ? LAST_PREFIX_MIN_CHARS : PREFIX_MIN_CHARS),
      fuzzy: (term) => isFuzzy && term.length >= FUZZY_MIN_CHARS && FUZZY_SHARE,
    });
    return found.map((result) => this.#matchOf(result));
  }

  #matchOf({ id, match, queryTerms }: SearchResult): SearchMatch {
    const words = new Set(queryTerms);
    const found = Object.entries(match);
    const countIn = (fields: readonly string[]) => {
      const terms = found.filter(([, where]) => where.some((field) => fields.includes(field)));
      const direct = [...words].filter((word) => terms.some(([term]) => term.startsWith(word)));
      // What was forgiven does not start with the word; then each word is taken to have matched one term.
      return Math.max(direct.length, Math.min(terms.length, isForgiven(found, words)));
    };
    return {
      id: String(id),
      title: this.#titles.get(String(id)) ?? '',
      inTitle: countIn(['title']) >= words.size,
      inQuestions: countIn(['title', 'questions']) >= words.size,
    };
  }

  async #takeAll(): Promise<void> {
    for (;;) {
      for (const id of this.#catalog.takeChangedEvents()) this.#waiting.add(id);
      if (this.#waiting.size === 0) break;
      this.#takeSome();
      await new Promise((resolve) => setImmediate(resolve));
    }
    this.#isReady = true;
  }

  #takeSome(): void {
    let count = 0;
    for (const id of this.#waiting) {
      this.#waiting.delete(id);
      this.#take(id);
      count += 1;
      if (count >= EVENTS_AT_ONCE) break;
    }
    this.#kept.clear();
  }

  #take(id: string): void {
    if (this.#titles.delete(id)) this.#index.discard(id);
    const event = this.#catalog.event(id);
    if (event === undefined) return;
    this.#titles.set(id, wordsIn(event.title).join(' '));
    const questions = this.#catalog.marketsOf(id).map(({ question }) => question);
    this.#index.add({
      id,
      title: `${event.title} ${event.slug}`,
      questions: questions.join(' ').slice(0, QUESTIONS_MAX_CHARS),
      description: event.description.slice(0, DESCRIPTION_MAX_CHARS),
    });
  }
}

/** Terms of a search come without a field. */
function isIndexed(field: string | undefined): boolean {
  return field !== undefined && field !== 'title';
}

/** The number of words when none of the terms starts with one of them, which is so after a fuzzy search alone. */
function isForgiven(found: readonly (readonly [string, unknown])[], words: ReadonlySet<string>) {
  const isExact = found.some(([term]) => [...words].some((word) => term.startsWith(word)));
  return isExact ? 0 : words.size;
}
