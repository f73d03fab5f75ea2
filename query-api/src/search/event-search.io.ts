import type { Catalog } from '@pm/domain/markets/catalog';
import SearchableMap from 'minisearch/SearchableMap';
import { SearchIndex, type SearchMatch, type SearchTexts } from './search-index.ts';
import type { SearchWords } from './search-words.ts';

/** Questions that are indexed of an event: 500 of 500 characters, each of two units. */
const questionsMaxChars = 500_000;
/** Texts taken in before others get their turn on the thread: some milliseconds. */
const charsAtOnce = 20_000;
/** How often changes of the catalog are taken in, milliseconds. */
const catchUpEveryMs = 250;
/** Typing errors are forgiven in searches of so many words: each looks through all words of the index. */
const forgivenWordsMax = 12;

/**
 * The index of events, built from the catalog in small steps and kept up with it. Its results lag the catalog by
 * some hundred milliseconds.
 */
export class EventSearch {
  readonly #catalog: Catalog;
  readonly #waiting = new Set<string>();
  readonly #index = new SearchIndex(new SearchableMap<number[]>());
  readonly #timer: NodeJS.Timeout;
  #isReady = false;
  #work: Promise<void> | null = null;

  constructor(catalog: Catalog) {
    this.#catalog = catalog;
    this.#timer = setInterval(() => void this.catchUp(), catchUpEveryMs);
  }

  /** False until everything that was in the catalog at first is in the index. */
  get isReady(): boolean {
    return this.#isReady;
  }

  /** Events in the index. */
  get size(): number {
    return this.#index.size;
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

  find({ significant }: SearchWords): readonly SearchMatch[] {
    const exact = this.#index.find(significant, false);
    if (exact.length > 0 || significant.length > forgivenWordsMax) return exact;
    return this.#index.find(significant, true);
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
    let taken = 0;
    for (const id of this.#waiting) {
      this.#waiting.delete(id);
      taken += this.#take(id);
      if (taken >= charsAtOnce) break;
    }
  }

  /** Returns how much there was to read. */
  #take(id: string): number {
    const texts = textsOf(this.#catalog, id);
    if (texts === null) {
      this.#index.remove(id);
      return 0;
    }
    this.#index.put(id, texts);
    return lengthOf([texts.title, ...texts.questions, ...texts.others]);
  }
}

/** The searched texts of an event: all of it but the descriptions of its markets. */
function textsOf(catalog: Catalog, id: string): SearchTexts | null {
  const event = catalog.event(id);
  if (event === undefined) return null;
  const { title, description, slug } = event;
  const questions: string[] = [];
  let chars = 0;
  for (const { question } of catalog.marketsOf(id)) {
    chars += question.length;
    if (chars > questionsMaxChars) break;
    questions.push(question);
  }
  return { title, questions, others: [description, slug] };
}

function lengthOf(texts: readonly string[]): number {
  return texts.reduce((sum, text) => sum + text.length, 0);
}
