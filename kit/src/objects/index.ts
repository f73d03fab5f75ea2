export { type FolderFiles, FolderStore } from './folder-store.io.ts';
export type { ObjectStore } from './object-store.io.ts';
export { openObjectStore, type StorePlace } from './open.io.ts';
export { sha256Of } from './slices.io.ts';
