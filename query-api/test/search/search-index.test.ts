import { Random } from '@pm/kit/random';
import SearchableMap from 'minisearch/SearchableMap';
import { places, SearchIndex, type SearchTexts } from '../../src/search/search-index.ts';
import { wordsIn } from '../../src/search/search-words.ts';

const random = new Random(20_261_122);
const upTo = (count: number) => random.below(count);
/** Few letters, so that words are often the start of others. */
const word = () => Array.from({ length: 1 + upTo(4) }, () => 'abc'[upTo(3)]).join('');
const text = (max: number) => Array.from({ length: upTo(max) }, word).join(' ');
const someTexts = (): SearchTexts => ({
  title: text(3),
  questions: Array.from({ length: upTo(3) }, () => text(3)),
  others: [text(4), text(2)],
});

/** Every event against every word, as one would write it first. */
function naiveFind(events: ReadonlyMap<string, SearchTexts>, words: readonly string[]) {
  const placeOf = ({ title, questions, others }: SearchTexts, start: string) =>
    [[title], questions, others].findIndex((texts) =>
      texts.some((one) => wordsIn(one).some((other) => other.startsWith(start))),
    );
  return [...events].flatMap(([id, texts]) => {
    const found = words.map((one) => placeOf(texts, one));
    return found.includes(-1) ? [] : [{ id, title: texts.title, place: Math.max(...found) }];
  });
}

const sorted = (found: readonly { id: string }[]) =>
  found.toSorted((left, right) => Number(left.id) - Number(right.id));

describe('the index of a search', () => {
  it('finds the same as a scan of every event, over 3,000 searches while events come, change and go', () => {
    const index = new SearchIndex(new SearchableMap<number[]>());
    const events = new Map<string, SearchTexts>();
    for (let count = 0; count < 3_000; count += 1) {
      const id = String(upTo(60));
      if (random.chance(0.3)) {
        events.delete(id);
        index.remove(id);
      } else {
        const before = events.get(id);
        // Often only a part changes, or nothing.
        const same = before !== undefined && random.chance(0.5) ? before : someTexts();
        const texts = random.chance(0.3) ? { ...same, title: text(3) } : same;
        events.set(id, texts);
        index.put(id, texts);
      }
      const words = Array.from({ length: 1 + upTo(4) }, word);
      const found = sorted(index.find(words, false));
      expect({ words, found }).toEqual({ words, found: sorted(naiveFind(events, words)) });
      expect(index.size).toBe(events.size);
    }
  });

  it('keeps nothing of events that are gone', () => {
    const tree = new SearchableMap<number[]>();
    const index = new SearchIndex(tree);
    for (let count = 0; count < 300; count += 1) index.put(String(upTo(20)), someTexts());
    for (let id = 0; id < 20; id += 1) index.remove(String(id));
    expect([index.size, tree.size]).toEqual([0, 0]);
  });

  it('forgives typing errors: one in four to seven letters, two in more', () => {
    const index = new SearchIndex(new SearchableMap<number[]>());
    const texts = { questions: [], others: [] };
    index.put('1', { ...texts, title: 'the presidential election in may' });
    const find = (words: string) => index.find(words.split(' '), true).length;
    expect(find('elektiom')).toBe(1);
    expect(find('elektoin')).toBe(0);
    expect(find('presidentail elecsion m')).toBe(1);
    expect(find('mai')).toBe(0);
    expect(index.find(['elektion'], false)).toEqual([]);
    expect(index.find([], true)).toEqual([]);
  });
});

test('places are numbers from the best to the worst', () => {
  expect(Object.values(places)).toEqual([0, 1, 2]);
});
