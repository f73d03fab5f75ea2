import { join } from 'node:path';
import type { Accident } from '../accident.ts';
import type { DrilledExchange } from '../drilled-exchange.ts';
import { makeReadOnly, mountDisk, unmount } from '../mounts.ts';

/** A folder that services write and can do without. */
interface Folder {
  readonly state: string;
  /** Path in the data folder. */
  readonly part: string;
  /** Processes that use it. */
  readonly users: readonly string[];
  /** Text that its processes log when they cannot write to it; null where they write to it too seldom for a drill. */
  readonly unwritable: string | null;
}

const folders: readonly Folder[] = [
  {
    state: 'snapshots of the matcher',
    part: 'snapshots',
    users: ['matcher'],
    unwritable: 'a snapshot was not written',
  },
  {
    state: 'files of streams',
    part: 'streams',
    users: ['streams'],
    unwritable: null,
  },
  {
    state: 'store',
    part: 'store',
    users: ['projectors', 'matcher'],
    unwritable: 'a checkpoint was not taken',
  },
];

/** Too little for any file of services. */
const fullBytes = 4_096;

export const folderAccidents: readonly Accident[] = folders.flatMap(accidentsOf);

function accidentsOf({ state, part, users, unwritable }: Folder): readonly Accident[] {
  const replaceBy = (from: (exchange: DrilledExchange) => string | null) => ({
    says: null,
    wayBack: null,
    carryOut: (exchange: DrilledExchange) =>
      exchange.without(users, () => exchange.replace([part], from(exchange))),
  });
  const mounted = (mount: (folder: string) => Promise<void>) => ({
    says: unwritable,
    wayBack: 'room, or the right to write',
    mounts: true as const,
    carryOut: (exchange: DrilledExchange) =>
      exchange.without(users, () => mount(join(exchange.folders.data, part))),
    bringBack: (exchange: DrilledExchange) =>
      exchange.without(users, () => unmount(join(exchange.folders.data, part))),
  });
  return [
    { state, done: 'lost', ...replaceBy(() => null) },
    { state, done: 'older', ...replaceBy(({ folders: { older } }) => older) },
    { state, done: 'of another installation', ...replaceBy(({ folders: { other } }) => other) },
    { state, done: 'read-only', ...mounted(makeReadOnly) },
    { state, done: 'full', ...mounted((folder) => mountDisk(folder, fullBytes)) },
  ];
}
