/**
 * Work that no view waits for begins so long after the start, milliseconds: a process that replaces another one has its
 * views first.
 */
export const viewsFirstMs = 5_000;
