import type { KeyObject } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';
import { verifyInPool } from '@pm/domain/signoff/verify-in-pool.io';

interface Checked {
  readonly key: KeyObject;
  readonly holds: boolean;
}

/** Checks that are remembered at once; then all are forgotten. */
const checksMax = 20_000;
const checks = new Map<string, Checked>();

/**
 * `verifyInPool`, once per signature: the processes of a test read the same records again and again. A remembered check
 * takes a turn of the event loop, as one of the thread pool does at least.
 */
export async function rememberedVerify(
  key: KeyObject,
  bytes: Uint8Array,
  signature: Uint8Array,
): Promise<boolean | null> {
  const name = `${Buffer.from(signature).toString('latin1')} ${Buffer.from(bytes).toString('latin1')}`;
  const known = checks.get(name);
  if (known?.key.equals(key)) {
    await setImmediate();
    return known.holds;
  }
  const holds = await verifyInPool(key, bytes, signature);
  if (checks.size >= checksMax) checks.clear();
  if (holds !== null) checks.set(name, { key, holds });
  return holds;
}
