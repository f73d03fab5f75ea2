import { assert } from '../assert/index.ts';

/** Bounds of an object store, the same for all kinds. */
export const objectLimits = {
  /** One object; as much as Node reads from a file at once. */
  bytesMax: 2 ** 31 - 1,
  nameChars: 512,
  /** Objects in one folder. */
  listedMax: 10_000,
  /** A list or a deletion, milliseconds. */
  callMs: 15_000,
  /** All attempts to bring or to take one object, milliseconds. */
  transferMs: 300_000,
  /** Attempts at one call while the store fails. */
  attemptsMax: 3,
} as const;

/** Folders have no dot in their names and objects have one, so that a folder on a disk needs no look at each entry. */
const namePattern = /^([\w-]+\/)*[\w-]+(\.[\w-]+)+$/;
const folderPattern = /^([\w-]+\/)+$/;
const objectPattern = /^[\w-]+(\.[\w-]+)+$/;

/** Asserts that a name is one that every store takes: `p5/120.snapshot`. */
export function assertObjectName(name: string): void {
  const isSound = namePattern.test(name) && name.length <= objectLimits.nameChars;
  assert(isSound, 'the name of an object has folders without a dot, and an ending');
}

/** Asserts that a folder is one that every store takes: `p5/`. */
export function assertFolderName(folder: string): void {
  assert(folderPattern.test(folder), 'a folder of objects ends with a slash and has no dot');
}

/** Whether an entry of a folder is an object and no folder. */
export function isObjectEntry(entry: string): boolean {
  return objectPattern.test(entry);
}
