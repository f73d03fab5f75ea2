import * as files from 'node:fs/promises';
import { FolderStore } from './folder-store.io.ts';
import type { ObjectStore } from './object-store.io.ts';
import { openS3Store, type S3Place } from './s3-store.io.ts';

/** A folder of this machine, or a place that speaks the API of S3. */
export type StorePlace =
  | { readonly kind: 'folder'; readonly folder: string }
  | ({ readonly kind: 's3' } & S3Place);

/** Opens a store; nothing is asked of it yet. */
export async function openObjectStore(place: StorePlace): Promise<ObjectStore> {
  return place.kind === 'folder' ? new FolderStore(place.folder, files) : await openS3Store(place);
}
