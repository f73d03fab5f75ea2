import { messageOf } from '@pm/deploy/local/stack-error';
import { storeConnection } from '@pm/kit/config';
import { clickhouseNeeds, openTables } from './clickhouse-needs.ts';
import { kafkaNeeds, openKafka } from './kafka-needs.ts';
import { type Judgement, type Need, no, unknown, yes } from './need.ts';
import type { PreflightOptions } from './options.ts';
import { openRedisServer, redisNeeds } from './redis-needs.ts';
import { openRegistrySurvey, registryNeeds } from './registry-needs.ts';
import { openStore, storeNeeds } from './store-needs.ts';

/** One need of one engine. */
export interface PreflightLine extends Judgement {
  readonly engine: string;
  readonly need: string;
  /** A file of `docs/operating`. */
  readonly page: string;
}

interface Closable {
  close(): Promise<void>;
}

/** An engine whose needs are asked; `open` connects and signs in. */
interface Checked<E extends Closable> {
  readonly engine: string;
  readonly needs: readonly Need<E>[];
  open(): Promise<E>;
}

type Report = (line: PreflightLine) => void;
type Check = (report: Report) => Promise<void>;

/** Asks each engine for each need, one after the other, and changes nothing. Resolves to whether none is a `no`. */
export async function runPreflight(options: PreflightOptions, report: Report): Promise<boolean> {
  let isFit = true;
  for (const check of checksOf(options))
    await check((line) => {
      if (line.verdict === 'no') isFit = false;
      report(line);
    });
  return isFit;
}

function checksOf(options: PreflightOptions): readonly Check[] {
  const place = storeConnection(options.addresses);
  const hasCache = options.addresses.redisCacheUrl !== '';
  const ledger = hasCache ? 'ledger' : 'all';
  return [
    checked({ engine: 'kafka', needs: kafkaNeeds, open: () => openKafka(options) }),
    checked({ engine: 'registry', needs: registryNeeds, open: () => openRegistrySurvey(options) }),
    checked({ engine: 'clickhouse', needs: clickhouseNeeds, open: () => openTables(options) }),
    checked({ engine: 'redis', needs: redisNeeds, open: () => openRedisServer(options, ledger) }),
    ...(hasCache
      ? [
          checked({
            engine: 'redis cache',
            needs: redisNeeds,
            open: () => openRedisServer(options, 'cache'),
          }),
        ]
      : []),
    ...(place === null
      ? []
      : [checked({ engine: 'store', needs: storeNeeds, open: () => openStore(place) })]),
  ];
}

const reachTodo = 'compare address, certificates, user and password';

function checked<E extends Closable>({ engine, needs, open }: Checked<E>): Check {
  return async (report) => {
    const reach = { engine, need: 'answers and signs in', page: 'security.md' };
    let opened: E;
    try {
      opened = await open();
    } catch (error) {
      report({ ...reach, ...no(reasonOf(error), reachTodo) });
      for (const { name, page } of needs)
        report({ engine, need: name, page, ...unknown('not asked: the engine was not reached') });
      return;
    }
    report({ ...reach, ...yes('with this account') });
    try {
      for (const one of needs)
        report({ engine, need: one.name, page: one.page, ...(await judged(one, opened)) });
    } finally {
      await opened.close();
    }
  };
}

/** A question without an answer, or without one for this account, leaves its need unknown. */
async function judged<E>(one: Need<E>, engine: E): Promise<Judgement> {
  try {
    return await one.check(engine);
  } catch (error) {
    return unknown(reasonOf(error));
  }
}

/** With the cause, where a fault alone says no more than that there was no answer. */
function reasonOf(error: unknown): string {
  const { cause } = Object(error) as { readonly cause?: unknown };
  const own = messageOf(error);
  return cause instanceof Error && cause.message !== '' ? `${own}: ${cause.message}` : own;
}
