import { Random } from '@pm/kit/random';
import { openRecordCodec } from '@pm/kit/registry';
import { type CatalogEntry, topics } from '@pm/schemas';

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

/** The same as values. */
export function* catalogEntries(markets: number, seed: number): Generator<CatalogEntry> {
  const source = new Random(seed);
  const random = () => source.next();
  const upTo = (count: number) => source.below(count);
  const some = (list: readonly string[], count: number) =>
    Array.from({ length: count }, () => list[upTo(list.length)]).join(' ');
  const prose = (count: number) =>
    Array.from(
      { length: count },
      () => vocabulary[Math.floor(vocabulary.length * random() ** 3)],
    ).join(' ');
  const times = { createdAtMs: 0, updatedAtMs: 0 };
  for (let id = 1; id <= tagCount; id += 1) {
    const slug = `tag-${id}`;
    const tag = {
      id: String(id),
      label: `${some(words, 1)} ${id}`,
      slug,
      requiresTranslation: false,
    };
    yield { kind: 'CatalogTag', ...tag, ...times };
  }
  const pictures = { image: '', icon: '', resolutionSource: '' };
  for (let number = 1; number <= markets; number += 1) {
    const eventId = String(Math.ceil(number / marketsPerEvent));
    const state = { active: random() < 0.97, closed: random() < 0.4, archived: random() < 0.05 };
    const dates = {
      startDateMs: upTo(400) * dayMs,
      endDateMs: upTo(800) * dayMs,
      createdAtMs: upTo(400) * dayMs,
      updatedAtMs: upTo(400) * dayMs,
    };
    const title = `Will ${some(names, 1)} ${prose(4)} by ${2026 + upTo(4)}?`;
    const description = `This market resolves to Yes if ${prose(40)}.`;
    if ((number - 1) % marketsPerEvent === 0) {
      yield {
        kind: 'CatalogEvent',
        ...{
          id: eventId,
          ticker: `event-${eventId}`,
          slug: `event-${eventId}`,
          title,
          description,
        },
        ...{ ...pictures, ...dates, ...state, creationDateMs: 0, metadata: '{}' },
        // The first tag is on every event, the second on a tenth of them.
        tagIds: ['1', ...(random() < 0.1 ? ['2'] : []), String(3 + upTo(tagCount - 2))],
        seriesIds: [],
      };
    }
    const id32 = (salt: number) => {
      const bytes = Buffer.alloc(32, salt);
      bytes.writeUInt32BE(number, 20);
      return bytes;
    };
    yield {
      kind: 'CatalogMarket',
      market: number,
      eventId,
      ...{ conditionId: id32(1), questionId: id32(2), token0: id32(3), token1: id32(4) },
      ...{
        outcome0: 'Yes',
        outcome1: 'No',
        question: title,
        slug: `market-${number}`,
        description,
      },
      ...{ ...pictures, ...dates, ...state, category: 'crypto', creator: '' },
      ...{ negRisk: false, negRiskMarketId: null, tick: 100, minSizeMicro: 5_000_000 },
      ...{
        feeRateBps: 441,
        rebateBps: 0,
        feeVersion: 1,
        askedPayout0: -1,
        mode: 'OPEN',
        takerDelayMs: 0,
        payout0: -1,
      },
      ...{ rewardsDailyMicro: 0, rewardsMinSizeMicro: 0, rewardsMaxSpread: 300 },
      ...{ partition: number % 64, epoch: 0 },
    };
  }
}
