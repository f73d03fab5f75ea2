import { wordsIn } from './search-words.ts';

/** The texts of an event that a search looks at. */
export interface SearchTexts {
  readonly title: string;
  readonly questions: readonly string[];
  /** Texts that count least, such as its description. */
  readonly others: readonly string[];
}

/** Where words are found, the best place first. */
export const places = { title: 0, questions: 1, others: 2 } as const;
const nowhere = 3;

/** An event that has all words of a search. */
export interface SearchMatch {
  readonly id: string;
  /** The words of its title with one space between them. */
  readonly title: string;
  /** The least of the best places of each word (`places`). */
  readonly place: number;
}

/** Words with what is known of each, in a tree by their letters. */
export interface WordTree<T> {
  get(word: string): T | undefined;
  set(word: string, value: T): unknown;
  delete(word: string): void;
  atPrefix(start: string): { values(): Iterable<T> };
  /** Words that become this one by so many edits at most, with their number. */
  fuzzyGet(word: string, edits: number): ReadonlyMap<string, readonly [T, number]>;
}

/** Events that have a word: the slot of each times four, and the best place of the word in it. */
type Postings = number[];

interface Entry {
  readonly id: string;
  readonly title: string;
  readonly texts: SearchTexts;
}

/** Edits that are forgiven, as a share of a word's length. */
const editsShare = 0.2;
const editsMax = 2;
/** Shorter words are too close to too many others. */
const forgivenMinChars = 4;

/**
 * An inverted index of events: for each word the events that have it, and the best place where. One search reads the
 * words that start with one of its own at most once, however many words it has: whatever they have in common is read
 * for the longer one.
 */
export class SearchIndex {
  readonly #tree: WordTree<Postings>;
  readonly #slots = new Map<string, number>();
  readonly #entries: (Entry | null)[] = [];
  readonly #free: number[] = [];

  constructor(tree: WordTree<Postings>) {
    this.#tree = tree;
  }

  /** Events in the index. */
  get size(): number {
    return this.#slots.size;
  }

  /** Takes an event in, or what has changed of its texts. */
  put(id: string, texts: SearchTexts): void {
    const slot = this.#slots.get(id) ?? this.#free.pop() ?? this.#entries.length;
    const before = this.#entries[slot] ?? null;
    if (before !== null && sameTexts(before.texts, texts)) return;
    this.#replace(slot, before === null ? none : placesIn(before.texts), placesIn(texts));
    this.#slots.set(id, slot);
    this.#entries[slot] = { id, title: wordsIn(texts.title).join(' '), texts };
  }

  remove(id: string): void {
    const slot = this.#slots.get(id);
    const before = slot === undefined ? null : (this.#entries[slot] ?? null);
    if (slot === undefined || before === null) return;
    this.#replace(slot, placesIn(before.texts), none);
    this.#slots.delete(id);
    this.#entries[slot] = null;
    this.#free.push(slot);
  }

  /**
   * Events that have all words, whole or as the start of one, in no order; `forgives` takes typing errors for the
   * words.
   */
  find(words: readonly string[], forgives: boolean): readonly SearchMatch[] {
    const worst = new Uint8Array(this.#entries.length);
    const best = new Uint8Array(this.#entries.length);
    let isFound = false;
    for (const word of decisive(words)) {
      best.fill(nowhere);
      this.#mark(word, best);
      if (forgives && word.length >= forgivenMinChars) this.#markSimilar(word, best);
      isFound = takeWorse(worst, best);
      if (!isFound) break;
    }
    return isFound ? this.#matches(worst) : [];
  }

  #matches(found: Uint8Array): readonly SearchMatch[] {
    const matches: SearchMatch[] = [];
    for (const [slot, entry] of this.#entries.entries()) {
      const place = found[slot] ?? nowhere;
      if (entry !== null && place < nowhere) {
        matches.push({ id: entry.id, title: entry.title, place });
      }
    }
    return matches;
  }

  #mark(word: string, best: Uint8Array): void {
    for (const postings of this.#tree.atPrefix(word).values()) markAll(postings, best);
  }

  #markSimilar(word: string, best: Uint8Array): void {
    const edits = Math.min(editsMax, Math.round(word.length * editsShare));
    for (const [postings] of this.#tree.fuzzyGet(word, edits).values()) markAll(postings, best);
  }

  #replace(slot: number, before: WordPlaces, after: WordPlaces): void {
    for (const [word, place] of before) {
      if (after.get(word) !== place) this.#drop(word, postingOf(slot, place));
    }
    for (const [word, place] of after) {
      if (before.get(word) !== place) this.#add(word, postingOf(slot, place));
    }
  }

  #add(word: string, posting: number): void {
    const postings = this.#tree.get(word);
    if (postings === undefined) this.#tree.set(word, [posting]);
    else postings.push(posting);
  }

  #drop(word: string, posting: number): void {
    const postings = this.#tree.get(word) ?? [];
    const index = postings.indexOf(posting);
    const last = postings.pop();
    if (index >= 0 && last !== undefined && index < postings.length) postings[index] = last;
    if (postings.length === 0) this.#tree.delete(word);
  }
}

type WordPlaces = ReadonlyMap<string, number>;
const none: WordPlaces = new Map();

/** Each word with its best place. */
function placesIn({ title, questions, others }: SearchTexts): WordPlaces {
  const found = new Map<string, number>();
  const put = (text: string, place: number) => {
    for (const word of wordsIn(text)) found.set(word, place);
  };
  for (const text of others) put(text, places.others);
  for (const text of questions) put(text, places.questions);
  put(title, places.title);
  return found;
}

function sameTexts(left: SearchTexts, right: SearchTexts): boolean {
  return (
    left.title === right.title &&
    sameList(left.questions, right.questions) &&
    sameList(left.others, right.others)
  );
}

function sameList(left: readonly string[], right: readonly string[]): boolean {
  return left.length === right.length && left.every((text, index) => text === right[index]);
}

const placeBits = 2;
const placeMask = 3;

function postingOf(slot: number, place: number): number {
  return (slot << placeBits) | place;
}

function markAll(postings: Postings, best: Uint8Array): void {
  for (const posting of postings) {
    const slot = posting >> placeBits;
    const place = posting & placeMask;
    if (place < (best[slot] ?? 0)) best[slot] = place;
  }
}

/** Keeps the worse place of each slot; false when nothing is found in any. */
function takeWorse(worst: Uint8Array, best: Uint8Array): boolean {
  let isFound = false;
  for (let slot = 0; slot < worst.length; slot += 1) {
    const place = Math.max(worst[slot] ?? nowhere, best[slot] ?? nowhere);
    worst[slot] = place;
    if (place < nowhere) isFound = true;
  }
  return isFound;
}

/** Words that no other one starts with, which has them in it; the longest first, as it is likely the rarest. */
function decisive(words: readonly string[]): readonly string[] {
  const sorted = [...new Set(words)].sort();
  return sorted
    .filter((word, index) => sorted[index + 1]?.startsWith(word) !== true)
    .sort((left, right) => right.length - left.length);
}
