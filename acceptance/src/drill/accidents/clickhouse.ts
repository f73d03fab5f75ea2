import { join } from 'node:path';
import { addressesOf } from '@pm/deploy/installation/read-addresses';
import { atServer } from '@pm/deploy/installation/server';
import type { Accident } from '../accident.ts';
import type { DrilledExchange } from '../drilled-exchange.ts';
import { makeReadOnly, unmount } from '../mounts.ts';

const state = 'ClickHouse';
const dataPart = 'engines/clickhouse';
const parts = [dataPart, 'engines/clickhouse-rows'];

const replaceBy = (from: (exchange: DrilledExchange) => string | null) => ({
  carryOut: (exchange: DrilledExchange) =>
    exchange.without(['clickhouse'], () => exchange.replace(parts, from(exchange))),
});

const startAgain = {
  wayBack: '`npm start` again',
  bringBack: (exchange: DrilledExchange) => exchange.restart(),
};

const rebuild = {
  wayBack: '`npm run rebuild -- --halted`',
  bringBack: async (exchange: DrilledExchange) => {
    await exchange.run('rebuild', ['--halted']);
  },
};

async function statement({ stack }: DrilledExchange, text: string): Promise<void> {
  await atServer(addressesOf(stack.urls, stack.access), (server) => server.command(text));
}

const after = (text: string) => ({
  carryOut: (exchange: DrilledExchange) => statement(exchange, text),
});

export const clickhouseAccidents: readonly Accident[] = [
  { state, done: 'lost', says: 'restoring:tables', ...startAgain, ...replaceBy(() => null) },
  { state, done: 'older', says: null, wayBack: null, ...replaceBy(({ folders }) => folders.older) },
  {
    state,
    done: 'of another installation',
    says: 'log_replaced',
    wayBack: '`npm run rebuild -- --halted`, then `npm start` again',
    bringBack: async (exchange) => {
      await rebuild.bringBack(exchange);
      await exchange.restart();
    },
    ...replaceBy(({ folders }) => folders.other),
  },
  {
    state,
    done: 'its disk read-only',
    says: 'Read-only file system',
    wayBack: 'the right to write, then a restart of ClickHouse',
    mounts: true,
    carryOut: ({ folders }) => makeReadOnly(join(folders.data, dataPart)),
    bringBack: (exchange) =>
      exchange.without(['clickhouse'], () => unmount(join(exchange.folders.data, dataPart))),
  },
  {
    state,
    done: 'a table dropped',
    says: 'clickhouse_refused',
    ...rebuild,
    ...after('DROP TABLE pm.fills'),
  },
  {
    state,
    done: 'rows of a table deleted',
    says: 'BROKEN  fills',
    ...rebuild,
    carryOut: async (exchange) => {
      await statement(exchange, 'TRUNCATE TABLE pm.fills');
      if (await exchange.run('audit')) throw new Error('the audit has not found it');
    },
  },
];
