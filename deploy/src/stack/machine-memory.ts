import { totalmem } from 'node:os';

/** Bytes that the processes of this machine may use: those of its control group if these are fewer. */
export function machineMemoryBytes(): number {
  // Without a limit it is 0 or more than there is.
  const limit = process.constrainedMemory();
  return limit > 0 ? Math.min(limit, totalmem()) : totalmem();
}
