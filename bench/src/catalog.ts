import { Catalog } from '@pm/domain/markets/catalog';
import { noFigures } from '@pm/domain/markets/figures';
import { ReadRefusal } from '@pm/domain/reading/refusal';
import { readMarketsQuery } from '@pm/query-api/markets/list-markets';
import { readSpan } from '@pm/query-api/markets/list-query';
import { EventSearch } from '@pm/query-api/search/event-search.io';
import { readSearchQuery, searchPage } from '@pm/query-api/search/search';
import { catalogCodec, catalogRecords } from './catalog/made-up.ts';
import { naivePage } from './catalog/naive.ts';
import { readArguments } from './report/arguments.ts';
import { collectGarbage } from './report/garbage.ts';
import { mebibytesText, msText, ratioText } from './report/numbers.ts';
import { cpuSeconds, ratePerCpuSecond } from './report/on-cpu.ts';
import { publish } from './report/report.ts';

/** `npm run bench:catalog`: loading, listing and searching a catalog in memory. */
const given = readArguments({
  markets: { default: 100_000, min: 1_000, max: 1_000_000 },
  seconds: { default: 0.5, min: 0.1, max: 10 },
});
const [markets, seconds] = [given.number('markets'), given.number('seconds')];

const lists = [
  'limit=100',
  'closed=false&order=volume',
  'closed=true&active=true&archived=false&order=endDate&ascending=true',
  'tag_slug=tag-1&closed=false&order=liquidity',
  'tag_slug=tag-2&order=volume24hr',
  'tag_slug=tag-77&closed=false&order=endDate',
  'active=false&closed=true&archived=true&tag_slug=tag-2&order=title',
  'order=volume,endDate,title',
  'offset=90000&order=createdAt',
];
const searches = [
  ...['bitcoin', 'will', 'Alpha election', 'bit', 'b', 'alpha e', 'elektion', 'elektion bitcoim'],
  'no-such-thing',
];

const timeMs = (work: () => void) => 1000 / ratePerCpuSecond(work, seconds);
const used = (work: () => void) => {
  const before = cpuSeconds();
  work();
  return cpuSeconds() - before;
};

const heapBytesUsed = () => {
  collectGarbage();
  return process.memoryUsage().heapUsed;
};

const records = catalogRecords(markets, 7);
const codec = catalogCodec();
const catalog = new Catalog();
const heapBefore = heapBytesUsed();
const loadSeconds = used(() => {
  for (const record of records) catalog.apply(codec.decode(record));
});
const sortSeconds = used(() => catalog.settle());
// A tenth of the markets have figures, as in a catalog where most are closed.
catalog.takeFigures(
  new Map(
    Array.from({ length: markets / 10 }, (_, index) => [
      index * 10 + 1,
      {
        ...noFigures,
        volumeMicro: (index * 7919) % 99_991,
        dayVolumeMicro: index % 17,
        liquidityMicro: index % 997,
      },
    ]),
  ),
);
const figuresSeconds = used(() => catalog.settle());
const heapBytes = heapBytesUsed() - heapBefore;

const context = { catalog, sites: new Map(), isFamily: false };
const listRows = lists.map((text) => {
  const query = Object.fromEntries(new URLSearchParams(text));
  const page = () => {
    const asked = readMarketsQuery(query, context, readSpan);
    if (asked instanceof ReadRefusal) throw new Error(asked.text);
    return catalog.marketTable.page(asked.rows, asked.span);
  };
  const mine = timeMs(page);
  // Once is enough: it takes a thousand times as long.
  const naive = 1000 * used(() => naivePage(catalog, query));
  return { text, rows: page().length, mine, naive };
});

const record = records.at(-1) ?? Buffer.alloc(0);
const changeMs = timeMs(() => {
  catalog.apply(codec.decode(record));
  catalog.marketTable.page({}, { order: ['title'], ascending: true, offset: 0, limit: 20 });
});

const search = new EventSearch(catalog);
const searchHeapBefore = heapBytesUsed();
const indexStarted = cpuSeconds();
await search.catchUp();
const indexSeconds = cpuSeconds() - indexStarted;
const indexBytes = heapBytesUsed() - searchHeapBefore;
const searchRows = searches.map((q) => {
  const asked = readSearchQuery({ q }, context);
  if (asked instanceof ReadRefusal) throw new Error(asked.text);
  const firstMs = 1000 * used(() => search.find(asked.words));
  const { totalResults } = searchPage(catalog, search.find(asked.words), asked);
  const againMs = timeMs(() => searchPage(catalog, search.find(asked.words), asked));
  return { q, totalResults, firstMs, againMs };
});
search.close();

publish(
  {
    name: 'catalog',
    title: 'A catalog in memory',
    conditions: [
      `${markets} markets in ${Math.ceil(markets / 4)} events with 500 tags (one on all events, one on a tenth); made up from a seed, a tenth with figures.`,
      'Time of the processor, in this process; the topic, HTTP and JSON are not in it. The naive list filters all markets and sorts what is left.',
    ],
    tables: [
      {
        title: 'Loading (target: ready below 5 s)',
        head: ['step', 's'],
        rows: [
          ['decode and take in all records', loadSeconds.toFixed(2)],
          ['sort all orders once', sortSeconds.toFixed(2)],
          ['ready: both together', (loadSeconds + sortSeconds).toFixed(2)],
          ['sort again by new figures', figuresSeconds.toFixed(2)],
          ['index for search, beside (503 until then)', indexSeconds.toFixed(2)],
        ],
      },
      {
        title: 'A page of a list (target: below 2 ms)',
        head: ['query', 'rows', 'ms', 'naive ms', 'ratio'],
        rows: listRows.map(({ text, rows, mine, naive }) => [
          `\`${text}\``,
          String(rows),
          msText(mine),
          msText(naive),
          ratioText(naive / mine),
        ]),
      },
      {
        title: 'A search',
        head: ['words', 'events found', 'ms the first time', 'ms again'],
        rows: searchRows.map(({ q, totalResults, firstMs, againMs }) => [
          `\`${q}\``,
          String(totalResults),
          msText(firstMs),
          msText(againMs),
        ]),
      },
    ],
    notes: [
      `A changed market and a page after it: ${msText(changeMs)} ms.`,
      `Heap: ${mebibytesText(heapBytes)} for the catalog, ${mebibytesText(indexBytes)} for the search index.`,
    ],
    figures: {
      loadSeconds,
      sortSeconds,
      figuresSeconds,
      indexSeconds,
      listRows,
      searchRows,
      changeMs,
    },
  },
  given,
);
