import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import type { WebSocket } from 'ws';
import { cpuSeconds } from '../report/on-cpu.ts';

/** Time that one server took to deliver a slice. */
export interface SliceTimes {
  readonly cpuSeconds: number;
  readonly seconds: number;
}

/** A server that is measured. */
export interface Delivering<Piece> {
  readonly sockets: ReadonlySet<WebSocket>;
  queuedBytes(): number;
  deliver(piece: Piece): void;
}

/** Pieces that are delivered before the readers are waited for. */
const perBatch = 32;
const pauseMs = 1;
const waitMs = 60_000;

/**
 * Delivers a slice as fast as the readers take it, `perTurn` pieces in each turn of the event loop: after each batch
 * nothing waits at the server.
 */
export async function deliverSlice<Piece>(
  pieces: readonly Piece[],
  perTurn: number,
  server: Delivering<Piece>,
): Promise<SliceTimes> {
  const [startedMs, startedCpu] = [performance.now(), cpuSeconds()];
  for (let from = 0; from < pieces.length; from += perBatch) {
    const batch = pieces.slice(from, from + perBatch);
    for (let at = 0; at < batch.length; at += perTurn) {
      for (const piece of batch.slice(at, at + perTurn)) server.deliver(piece);
      await nextTurn();
    }
    await until(() => !waits(server));
  }
  const seconds = (performance.now() - startedMs) / 1_000;
  return { cpuSeconds: cpuSeconds() - startedCpu, seconds };
}

/** Resolves when all readers have what was delivered, and have left. */
export function readersLeft({ sockets }: { readonly sockets: ReadonlySet<WebSocket> }) {
  return until(() => sockets.size === 0);
}

function waits({ sockets, queuedBytes }: Omit<Delivering<never>, 'deliver'>): boolean {
  return queuedBytes() > 0 || [...sockets].some(({ bufferedAmount }) => bufferedAmount > 0);
}

async function until(isSo: () => boolean): Promise<void> {
  const deadlineMs = performance.now() + waitMs;
  while (!isSo()) {
    if (performance.now() > deadlineMs) throw new Error('readers of the benchmark do not read');
    await sleep(pauseMs);
  }
}
