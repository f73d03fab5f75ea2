import { rmSync, truncateSync } from 'node:fs';
import { join } from 'node:path';
import { messageOf } from '@pm/deploy/local/stack-error';
import type { Accident } from '../accident.ts';
import type { DrilledExchange } from '../drilled-exchange.ts';
import { makeReadOnly, unmount } from '../mounts.ts';

const inData = ({ folders }: DrilledExchange, name: string) => join(folders.data, name);

/** Stops all, does something to a file of the data folder, and tries to start. */
const atRest = (change: (exchange: DrilledExchange) => void) => ({
  carryOut: (exchange: DrilledExchange) => exchange.restart(() => change(exchange)),
});

async function restore(exchange: DrilledExchange): Promise<void> {
  if (!(await exchange.run('restore', ['--from', exchange.folders.backups])))
    throw new Error('restore failed');
}

const restored = (...names: readonly string[]) => ({
  wayBack: '`npm run restore`, then `npm start`',
  bringBack: (exchange: DrilledExchange) =>
    exchange.restart(async () => {
      for (const name of names) rmSync(inData(exchange, name), { force: true });
      await restore(exchange);
    }),
});

const rotate = ['rotate', '--role', 'ledger'];

/** Everything of a data folder but the log. */
const allButLog = [
  'engines/redis',
  'engines/clickhouse',
  'engines/clickhouse-rows',
  'engines/registry',
  'snapshots',
  'store',
  'streams',
  'keys.json',
  'authority.json',
  'operators.json',
];

export const fileAccidents: readonly Accident[] = [
  {
    state: '`keys.json`',
    done: 'lost',
    says: 'is missing, and the log belongs to an installation',
    ...restored(),
    ...atRest((exchange) => exchange.replace(['keys.json'], null)),
  },
  {
    state: '`keys.json`',
    done: 'of another installation',
    says: 'it is that of another installation',
    ...restored('keys.json'),
    ...atRest((exchange) => exchange.replace(['keys.json'], exchange.folders.other)),
  },
  {
    state: '`keys.json`',
    done: 'cut off',
    says: 'is damaged: it is no JSON object',
    ...restored('keys.json'),
    ...atRest((exchange) => truncateSync(inData(exchange, 'keys.json'), 100)),
  },
  {
    state: '`keys.json`',
    done: 'read-only, while a key is replaced',
    says: 'keys.json',
    wayBack: 'the right to write, then `npm run keys -- rotate` again and `npm start`',
    mounts: true,
    carryOut: async (exchange) => {
      await makeReadOnly(inData(exchange, 'keys.json'));
      if (await exchange.run('keys', rotate))
        throw new Error('rotated in a file that is read-only');
    },
    bringBack: async (exchange) => {
      await unmount(inData(exchange, 'keys.json'));
      if (!(await exchange.run('keys', rotate))) throw new Error('not rotated');
      if (!(await exchange.run('backup', ['--to', exchange.folders.backups])))
        throw new Error('no backup');
      await exchange.restart();
    },
  },
  {
    state: '`authority.json`',
    done: 'lost',
    says: 'is not there, and',
    wayBack: '`npm run restore`',
    carryOut: async (exchange) => {
      exchange.replace(['authority.json'], null);
      if (await exchange.run('keys', rotate)) throw new Error('rotated without authority');
    },
    bringBack: async (exchange) => {
      await restore(exchange);
      if (!(await exchange.run('keys', ['list']))) throw new Error('keys cannot be listed');
    },
  },
  {
    state: '`operators.json`',
    done: 'lost',
    says: 'was missing: a new one has the operator',
    ...restored(),
    ...atRest((exchange) => exchange.replace(['operators.json'], null)),
  },
  {
    state: '`operators.json`',
    done: 'of another installation',
    says: 'returned 401',
    ...restored('operators.json'),
    carryOut: async (exchange) => {
      await exchange.restart(() => exchange.replace(['operators.json'], exchange.folders.other));
      await exchange.stack.operator
        .deposit([])
        .catch((error: unknown) => exchange.said.note(messageOf(error)));
    },
  },
  {
    state: 'passwords of ClickHouse',
    done: 'lost',
    says: null,
    wayBack: null,
    ...atRest((exchange) =>
      exchange.replace(
        ['engines/clickhouse.password', 'engines/clickhouse-readers.password'],
        null,
      ),
    ),
  },
  {
    state: 'data folder',
    done: 'lost but for the log',
    says: 'is missing, and the log belongs to an installation',
    ...restored(),
    ...atRest((exchange) => exchange.replace(allButLog, null)),
  },
];
