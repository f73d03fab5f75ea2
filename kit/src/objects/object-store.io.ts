/**
 * Where state is kept beside the log: snapshots, checkpoints, backups. Objects are whole or absent; what they say is
 * checked by their readers. Names are like `snapshots/p5/120.snapshot` (names.ts), sizes and times as `objectLimits`.
 *
 * Every method rejects with the `Fault` `store_failed` (retry) when the store does not answer or fails, and with
 * `store_refused` (retry) when it does not allow the call or has no such bucket: an operator can mend both meanwhile.
 */
export interface ObjectStore {
  /** Stores the parts as one object, in place of one with this name. Rejects with `object_too_large` (skip). */
  put(name: string, parts: readonly Buffer[]): Promise<void>;
  /** All bytes of an object; null when there is none. Rejects with `object_too_large` (skip). */
  get(name: string): Promise<Buffer | null>;
  /** Names of the objects directly in a folder, which ends with a slash. Rejects with `too_many_objects` (skip). */
  list(folder: string): Promise<readonly string[]>;
  /** Removes an object; nothing happens when there is none. */
  delete(name: string): Promise<void>;
  close(): void;
}
