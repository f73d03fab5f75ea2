import { createHash } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';
import { type EncodingThread, hashKnown } from '@pm/matcher/state-encoder';
import { collectGarbage } from '../report/garbage.ts';
import type { RestingState } from './resting-state.ts';

/** Orders of a record between two turns of the event loop; as many cancels follow. */
const ordersPerTurn = 8;

/** Milliseconds, one sample a round. */
export interface Pauses {
  /** Longest turn while nothing but records is processed, as long as a checkpoint takes. */
  readonly quiet: number[];
  /** Longest turn from the start of a checkpoint until its hash is known. */
  readonly checkpoint: number[];
  /** Longest turn from the start of a snapshot until its bytes are here. */
  readonly snapshot: number[];
  /** The call that freezes the state. */
  readonly freeze: number[];
  /** Until the hash is known, in the other thread. */
  readonly encoding: number[];
  /** Encoding and hash on the calling thread. */
  readonly here: number[];
  /** One SHA-256 over the same bytes. */
  readonly bareHash: number[];
  /** One copy of the same bytes. */
  readonly bareCopy: number[];
}

/** Longest turns of the event loop while records are processed, with and without a state being encoded. */
export async function measurePauses(
  state: RestingState,
  thread: EncodingThread,
  rounds: number,
): Promise<Pauses> {
  const pauses: Pauses = {
    quiet: [],
    checkpoint: [],
    snapshot: [],
    freeze: [],
    encoding: [],
    here: [],
    bareHash: [],
    bareCopy: [],
  };
  const { engine } = state;
  // Not counted: the first one makes the buffers, and code is compiled.
  await hashKnown(thread.hash(engine));
  await longestTurn(state, sleepTurns(200));
  for (let round = 0; round < rounds; round += 1) {
    collectGarbage();
    const started = performance.now();
    const checkpoint = longestTurn(state, () => {
      const before = performance.now();
      const hash = thread.hash(engine);
      pauses.freeze.push(performance.now() - before);
      return hashKnown(hash);
    });
    pauses.checkpoint.push(await checkpoint);
    const tookMs = performance.now() - started;
    pauses.encoding.push(tookMs);
    pauses.snapshot.push(await longestTurn(state, () => thread.encode(engine)));
    pauses.quiet.push(await longestTurn(state, sleepMs(tookMs)));
    measureHere(state, pauses);
  }
  return pauses;
}

function measureHere({ engine }: RestingState, pauses: Pauses): void {
  const [start, ...ends] = timesOf([
    () => engine.encodeState(),
    (bytes) => createHash('sha256').update(bytes).digest(),
    (bytes) => Buffer.from(bytes),
  ]);
  const [encoded, hashed, copied] = ends as [number, number, number];
  pauses.here.push(hashed - (start as number));
  pauses.bareHash.push(hashed - encoded);
  pauses.bareCopy.push(copied - hashed);
}

/** Runs the steps, each with the bytes of the first; returns the time before the first and after each. */
function timesOf(steps: readonly [() => Buffer, ...((bytes: Buffer) => unknown)[]]): number[] {
  const times = [performance.now()];
  const [first, ...rest] = steps;
  const bytes = first();
  times.push(performance.now());
  for (const step of rest) {
    step(bytes);
    times.push(performance.now());
  }
  return times;
}

/** Processes a record in each turn of the event loop until what `begin` started has ended. */
async function longestTurn(state: RestingState, begin: () => Promise<unknown>): Promise<number> {
  let longest = 0;
  let ended = false;
  let last = performance.now();
  const ending = begin().then(() => {
    ended = true;
  });
  while (!ended) {
    state.next(ordersPerTurn);
    await setImmediate();
    const now = performance.now();
    longest = Math.max(longest, now - last);
    last = now;
  }
  await ending;
  return longest;
}

function sleepTurns(turns: number): () => Promise<void> {
  return async () => {
    for (let left = turns; left > 0; left -= 1) await setImmediate();
  };
}

function sleepMs(ms: number): () => Promise<void> {
  return () => new Promise((resolve) => setTimeout(resolve, ms));
}
