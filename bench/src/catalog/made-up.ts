import { Random } from '@pm/kit/random';
import { openRecordCodec } from '@pm/kit/registry';
import type { CatalogEntry } from '@pm/schemas/log/catalog';
import { topics } from '@pm/schemas/log/topics';

const dayMs = 86_400_000;
const words =
  'election bitcoin rain cup final rate cut launch record price goal vote court ban deal storm tour award film team city oil gold'.split(
    ' ',
  );
const names =
  'Alpha Bravo Carol Delta Eve Frank Grace Heidi Ivan Judy Mallory Niaj Oscar Peggy'.split(' ');
/** Words of descriptions: few are frequent, as in a language. */
const vocabulary = [...words, ...Array.from({ length: 5_000 }, (_, index) => `word${index}`)];
const marketsPerEvent = 4;
const tagCount = 500;

/** Records of a catalog with so many markets, as on the topic: four markets per event, three tags each. */
export function catalogRecords(markets: number, seed: number): readonly Buffer[] {
  const codec = openRecordCodec(topics.catalog.value, 1, async () => {
    throw new Error('no other schema is read here');
  });
  return [...catalogEntries(markets, seed)].map((entry) => codec.encode(entry));
}

/** Decoder of the records above. */
export const catalogCodec = () =>
  openRecordCodec(topics.catalog.value, 1, async () => {
    throw new Error('no other schema is read here');
  });

/** Entries of a catalog with this number of markets, not encoded. */
export function* catalogEntries(markets: number, seed: number): Generator<CatalogEntry> {
  const words = new MadeUp(new Random(seed));
  for (let id = 1; id <= tagCount; id += 1) yield words.tag(id);
  for (let number = 1; number <= markets; number += 1) {
    const facts = words.facts();
    if ((number - 1) % marketsPerEvent === 0) yield words.event(number, facts);
    yield marketEntry(number, facts);
  }
}

/** Facts that a market and its event share. */
type Facts = ReturnType<MadeUp['facts']>;

const noPictures = { image: '', icon: '', resolutionSource: '' };

class MadeUp {
  readonly #random: Random;

  constructor(random: Random) {
    this.#random = random;
  }

  tag(id: number): CatalogEntry {
    return {
      kind: 'CatalogTag',
      id: String(id),
      label: `${this.#some(words, 1)} ${id}`,
      slug: `tag-${id}`,
      requiresTranslation: false,
      createdAtMs: 0,
      updatedAtMs: 0,
    };
  }

  facts() {
    const random = this.#random;
    return {
      active: random.next() < 0.97,
      closed: random.next() < 0.4,
      archived: random.next() < 0.05,
      startDateMs: random.below(400) * dayMs,
      endDateMs: random.below(800) * dayMs,
      createdAtMs: random.below(400) * dayMs,
      updatedAtMs: random.below(400) * dayMs,
      title: `Will ${this.#some(names, 1)} ${this.#prose(4)} by ${2026 + random.below(4)}?`,
      description: `This market resolves to Yes if ${this.#prose(40)}.`,
    };
  }

  /** The first tag is on every event, the second on a tenth of them. */
  event(number: number, facts: Facts): CatalogEntry {
    const id = eventIdOf(number);
    const second = this.#random.next() < 0.1 ? ['2'] : [];
    return {
      kind: 'CatalogEvent',
      id,
      ticker: `event-${id}`,
      slug: `event-${id}`,
      ...facts,
      ...noPictures,
      creationDateMs: 0,
      closedAtMs: 0,
      metadata: '{}',
      tagIds: ['1', ...second, String(3 + this.#random.below(tagCount - 2))],
      seriesIds: [],
    };
  }

  #some(list: readonly string[], count: number): string {
    const pick = () => list[this.#random.below(list.length)];
    return Array.from({ length: count }, pick).join(' ');
  }

  #prose(count: number): string {
    const pick = () => vocabulary[Math.floor(vocabulary.length * this.#random.next() ** 3)];
    return Array.from({ length: count }, pick).join(' ');
  }
}

function eventIdOf(number: number): string {
  return String(Math.ceil(number / marketsPerEvent));
}

function id32(number: number, salt: number): Buffer {
  const bytes = Buffer.alloc(32, salt);
  bytes.writeUInt32BE(number, 20);
  return bytes;
}

function marketEntry(number: number, { title, ...facts }: Facts): CatalogEntry {
  return {
    kind: 'CatalogMarket',
    market: number,
    eventId: eventIdOf(number),
    conditionId: id32(number, 1),
    questionId: id32(number, 2),
    token0: id32(number, 3),
    token1: id32(number, 4),
    outcome0: 'Yes',
    outcome1: 'No',
    question: title,
    slug: `market-${number}`,
    ...facts,
    ...noPictures,
    category: 'crypto',
    creator: '',
    negRisk: false,
    negRiskMarketId: null,
    tick: 100,
    minSizeMicro: 5_000_000,
    feeRateBps: 441,
    rebateBps: 0,
    feeVersion: 1,
    askedPayout0: -1,
    nextFeeRateBps: -1,
    feeChangesAtMs: 0,
    proposedPayout0: -1,
    paysAtMs: 0,
    challengedAtMs: 0,
    challenges: 0,
    metadata: '{}',
    closedAtMs: 0,
    groupItemTitle: '',
    mode: 'OPEN',
    takerDelayMs: 0,
    payout0: -1,
    rewardsDailyMicro: 0,
    rewardsMinSizeMicro: 0,
    rewardsMaxSpread: 300,
    partition: number % 64,
    epoch: 0,
    listed: true,
  };
}
