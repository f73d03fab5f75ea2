import { openObjectStore, type StorePlace } from '@pm/kit/objects';
import { type Need, need, unknown, yes } from './need.ts';

/** The store, as needs are asked of it. */
export type StoreEngine = Awaited<ReturnType<typeof openStore>>;

/** Folders of the store (recovery.md). */
const folders = ['snapshots/', 'checkpoints/ledger/', 'backups/'];

/** Connects and signs in. */
export async function openStore(place: StorePlace) {
  const store = await openObjectStore(place);
  try {
    await store.list('checkpoints/ledger/');
    return { store, close: async () => store.close() };
  } catch (error) {
    store.close();
    throw error;
  }
}

/** Everything that is needed of the store. */
export const storeNeeds: readonly Need<StoreEngine>[] = [
  need({
    name: 'folders can be listed',
    page: 'recovery.md',
    ask: ({ store }) => Promise.all(folders.map((folder) => store.list(folder))),
    judge: (lists) => yes(`${lists.flat().length} objects`),
  }),
  need({
    name: 'objects can be written',
    page: 'recovery.md',
    ask: async () => null,
    judge: () => unknown('not tried, since it would leave an object'),
  }),
];
