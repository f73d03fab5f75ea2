import { askPort } from '@pm/deploy/local/probes';
import type { Accident } from '../accident.ts';
import type { DrilledExchange } from '../drilled-exchange.ts';

const state = 'Redis';
const part = 'engines/redis';

const isRestored = 'stored data of a partition is lost: it is restored';

const replaceBy = (from: (exchange: DrilledExchange) => string | null) => ({
  wayBack: null,
  carryOut: (exchange: DrilledExchange) =>
    exchange.without(['redis'], () => exchange.replace([part], from(exchange))),
});

/** A command without an answer that anyone reads. */
async function command({ stack }: DrilledExchange, text: string): Promise<void> {
  const answer = await askPort(stack.ports.redis, Buffer.from(`${text}\r\n`));
  if (!answer.toString().startsWith('+OK')) throw new Error(`redis: ${answer.toString().trim()}`);
}

const commands = (does: string, undoes: string) => ({
  carryOut: (exchange: DrilledExchange) => command(exchange, does),
  bringBack: (exchange: DrilledExchange) => command(exchange, undoes),
});

export const redisAccidents: readonly Accident[] = [
  { state, done: 'lost', says: isRestored, ...replaceBy(() => null) },
  { state, done: 'older', says: isRestored, ...replaceBy(({ folders: { older } }) => older) },
  // Its ledger was folded from another log.
  {
    state,
    done: 'of another installation',
    says: 'log_replaced',
    ...replaceBy(({ folders: { other } }) => other),
    wayBack: 'empty Redis, then `npm start` again',
    bringBack: (exchange) => exchange.restart(() => exchange.replace([part], null)),
  },
  {
    state,
    done: 'read-only, as a replica is',
    says: 'redis_unavailable',
    wayBack: 'make it the primary',
    ...commands('REPLICAOF 127.0.0.1 1', 'REPLICAOF NO ONE'),
  },
  {
    state,
    done: 'full',
    says: 'reply=OOM',
    wayBack: 'more `maxmemory`',
    ...commands('CONFIG SET maxmemory 1mb', 'CONFIG SET maxmemory 0'),
  },
];
