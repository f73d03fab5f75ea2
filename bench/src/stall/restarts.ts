import { createHash } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Engine } from '@pm/matcher/core';
import { decodeImage, encodeImage } from '@pm/matcher/snapshot-image';
import { collectGarbage } from '../report/garbage.ts';

/** Milliseconds and bytes of one restart from a snapshot. */
export interface Restart {
  readonly bytes: number;
  /** Reading the file and checking its hashes. */
  readonly readMs: number;
  /** From its bytes to an engine whose invariants are checked. */
  readonly decodeMs: number;
}

/** Writes the state as a snapshot file, then starts from it. */
export function measureRestart(engine: Engine): Restart {
  const folder = mkdtempSync(join(tmpdir(), 'pm-bench-'));
  try {
    const path = join(folder, 'snapshot');
    const at = { partition: 0, nextOffset: 1 };
    const state = engine.encodeState();
    const stateHash = createHash('sha256').update(state).digest();
    const image = { ...at, chain: Buffer.alloc(32), state, stateHash, checkpoint: null };
    writeFileSync(path, Buffer.concat(encodeImage(image)));
    collectGarbage();
    const started = performance.now();
    const snapshot = decodeImage(readFileSync(path), at);
    if (typeof snapshot === 'string') throw new Error(`the snapshot is ${snapshot}`);
    const read = performance.now();
    const restored = Engine.restore(snapshot.state);
    const ended = performance.now();
    if (restored.openOrderCount !== engine.openOrderCount) throw new Error('orders are missing');
    return { bytes: state.length, readMs: read - started, decodeMs: ended - read };
  } finally {
    rmSync(folder, { recursive: true });
  }
}
