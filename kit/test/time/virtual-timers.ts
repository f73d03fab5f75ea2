import * as crypto from 'node:crypto';
import * as timers from 'node:timers/promises';
import type { Planned, Scheduler } from './scheduler.ts';

type Callback = (...args: unknown[]) => void;

/** A handle as `setTimeout` of Node returns it, as far as it is used. */
interface Handle {
  planned: Planned;
  unref(): Handle;
  ref(): Handle;
}

/**
 * Replaces the timers, the clocks and the random ids of this thread by those of a scheduler while `work` runs: the
 * sources wait by Node's own functions, and no real time may pass. A timer belongs to the machine that sets it.
 */
export async function withVirtualTimers<T>(
  scheduler: Scheduler,
  work: () => Promise<T>,
): Promise<T> {
  const restore = [
    ...replaceGlobals(scheduler),
    replace(performance, 'now', () => scheduler.nowMs),
    replace(Date, 'now', () => Math.floor(scheduler.nowMs)),
    replace(core(timers), 'setTimeout', (ms: number, value: unknown) =>
      waitOf(scheduler, ms, value),
    ),
    replace(core(timers), 'setImmediate', (value: unknown) => waitOf(scheduler, 0, value)),
    replace(core(crypto), 'randomUUID', () => uuidOf(scheduler)),
    replace(globalThis.crypto, 'getRandomValues', (array: Uint32Array) =>
      array.map(() => scheduler.random.below(2 ** 32)),
    ),
    ...replaceSignatures(),
  ];
  try {
    return await work();
  } finally {
    for (const one of restore) one();
  }
}

/** The object that compiled imports of a module of Node read at each use. */
function core(module: object): object {
  return (Reflect.get(module, 'default') as object | undefined) ?? module;
}

function replaceGlobals(scheduler: Scheduler) {
  const once = (run: Callback, ms = 0, ...args: unknown[]) =>
    handleOf(scheduler.after(Math.max(ms, leastMs), scheduler.current, () => run(...args)));
  const repeated = (run: Callback, ms = 0, ...args: unknown[]) => {
    const { current } = scheduler;
    const handle = handleOf(planNext());
    function planNext(): Planned {
      return scheduler.after(Math.max(ms, leastMs), current, () => {
        handle.planned = planNext();
        run(...args);
      });
    }
    return handle;
  };
  const clear = (handle?: Handle) => handle?.planned?.cancel();
  return [
    replace(globalThis, 'setTimeout', once),
    replace(globalThis, 'setInterval', repeated),
    replace(globalThis, 'clearTimeout', clear),
    replace(globalThis, 'clearInterval', clear),
  ];
}

const leastMs = 1;

function handleOf(planned: Planned): Handle {
  const handle: Handle = { planned, unref: () => handle, ref: () => handle };
  return handle;
}

function waitOf(scheduler: Scheduler, ms: number, value: unknown): Promise<unknown> {
  const owner = scheduler.current;
  return new Promise((resolve) => void scheduler.after(ms, owner, () => resolve(value)));
}

/**
 * A signature that was made in this run counts as checked where it stands for exactly the bytes it was made for: the
 * arithmetic would take a third of the time. Any other one is verified.
 */
function replaceSignatures() {
  const { sign, verify } = crypto;
  const signed = new Map<string, Buffer>();
  const signAndKeep = (_: null, bytes: Buffer, key: crypto.KeyObject) => {
    const signature = sign(null, bytes, key);
    signed.set(signature.toString('latin1'), bytes);
    return signature;
  };
  const verifyKnown = (_: null, bytes: Buffer, key: crypto.KeyObject, signature: Buffer) => {
    const known = signed.get(signature.toString('latin1'));
    return known?.equals(bytes) === true || verify(null, bytes, key, signature);
  };
  return [replace(core(crypto), 'sign', signAndKeep), replace(core(crypto), 'verify', verifyKnown)];
}

function uuidOf({ random }: Scheduler): string {
  const digits = Array.from({ length: 32 }, () => random.below(16).toString(16)).join('');
  return digits.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
}

/** Returns the function that puts the former value back. */
export function replace(target: object, name: string, value: unknown): () => void {
  const before = Object.getOwnPropertyDescriptor(target, name);
  Object.defineProperty(target, name, { value, configurable: true, writable: true });
  return () => {
    if (before === undefined) Reflect.deleteProperty(target, name);
    else Object.defineProperty(target, name, before);
  };
}
