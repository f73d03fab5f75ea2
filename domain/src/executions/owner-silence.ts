/**
 * An owner of a partition writes at least two records a second (architecture.md). Whoever reads none for so long,
 * milliseconds, takes the partition for silent: what is known of it may be old.
 */
export const silenceMaxMs = 2_000;
