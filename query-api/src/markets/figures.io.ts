import type { Catalog } from '@pm/domain/markets/catalog';
import {
  type MarketFigures,
  noMoves,
  noVolume,
  type TableFigures,
} from '@pm/domain/markets/figures';
import { Fault } from '@pm/kit/fault';
import type { Log } from '@pm/kit/log';
import type { RedisClient } from '@pm/kit/redis';
import type { RedisKeys } from '@pm/schemas/redis/keys';

/** Maximum age of the figures, milliseconds. */
const refreshEveryMs = 30_000;
/** While the first ones are missing they are read more often. */
const retryEveryMs = 2_000;
/** Fields of one answer of Redis: it must not be blocked for long. */
const fieldsAtOnce = 2_000;

export interface FiguresOptions {
  readonly catalog: Pick<Catalog, 'takeFigures' | 'markets'>;
  readonly redis: Pick<RedisClient, 'hscan' | 'hmget'>;
  readonly keys: Pick<RedisKeys, 'bookMarks' | 'bookMarkOf'>;
  readonly log: Log;
  nowMs(): number;
  /** Volumes and moves of prices. */
  readonly tables: { read(nowMs: number): Promise<TableFigures> };
}

/** When figures were read last, null before the first time; what closes it. */
export interface FiguresWatch {
  readAtMs(): number | null;
  close(): void;
}

/**
 * Reads the figures of all markets now and then, into the catalog; what was read last counts while a store is
 * away.
 */
export function watchFigures(options: FiguresOptions): FiguresWatch {
  let readAtMs: number | null = null;
  let isClosed = false;
  let timer: NodeJS.Timeout | undefined;
  const refresh = async (): Promise<void> => {
    const nowMs = options.nowMs();
    try {
      options.catalog.takeFigures(await readFigures(options, nowMs));
      readAtMs = nowMs;
    } catch (error) {
      options.log.warn({ err: error }, 'figures of markets could not be read');
    }
    if (!isClosed) timer = setTimeout(refresh, readAtMs === null ? retryEveryMs : refreshEveryMs);
  };
  void refresh();
  return {
    readAtMs: () => readAtMs,
    close() {
      isClosed = true;
      clearTimeout(timer);
    },
  };
}

const unknown = { ...noVolume, moves: noMoves };

async function readFigures(
  options: Omit<FiguresOptions, 'log'>,
  nowMs: number,
): Promise<ReadonlyMap<number, MarketFigures>> {
  const [ofTables, liquidity] = await Promise.all([
    options.tables.read(nowMs),
    readLiquidity(options),
  ]);
  const markets = new Set([...ofTables.keys(), ...liquidity.keys()]);
  return new Map(
    [...markets].map((market): [number, MarketFigures] => [
      market,
      { ...(ofTables.get(market) ?? unknown), liquidityMicro: liquidity.get(market) ?? 0 },
    ]),
  );
}

/**
 * The projector of books leaves what rests on a market beside the marks of its partitions. While a partition has no
 * mark its books are being rebuilt, and the orders resting on its markets are not known.
 */
async function readLiquidity(
  options: Pick<FiguresOptions, 'catalog' | 'redis' | 'keys'>,
): Promise<ReadonlyMap<number, number>> {
  const partitions = new Set<string>();
  for (const { partition } of options.catalog.markets()) partitions.add(String(partition));
  await assertBooksStored(options, partitions);
  const liquidity = await scanLiquidity(options);
  // Again, since marks may have been lost meanwhile.
  await assertBooksStored(options, partitions);
  return liquidity;
}

async function assertBooksStored(
  { redis, keys }: Pick<FiguresOptions, 'redis' | 'keys'>,
  partitions: ReadonlySet<string>,
): Promise<void> {
  if (partitions.size === 0) return;
  const marks = await redis.hmget(keys.bookMarks, ...partitions);
  if (marks.includes(null)) throw new Fault('books_not_ready', 'retry');
}

async function scanLiquidity({
  redis,
  keys,
}: Pick<FiguresOptions, 'redis' | 'keys'>): Promise<ReadonlyMap<number, number>> {
  const liquidity = new Map<number, number>();
  let cursor = '0';
  do {
    const [next, cells] = await redis.hscan(
      keys.bookMarks,
      cursor,
      'MATCH',
      keys.bookMarkOf('*'),
      'COUNT',
      fieldsAtOnce,
    );
    for (let at = 0; at + 1 < cells.length; at += 2) {
      const market = Number(cells[at]?.slice(keys.bookMarkOf('').length));
      liquidity.set(market, Number(cells[at + 1]));
    }
    cursor = next;
  } while (cursor !== '0');
  return liquidity;
}
