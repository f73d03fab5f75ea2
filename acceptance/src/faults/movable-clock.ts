/**
 * Loaded into a process by `node --import`: its wall clock is off by as many milliseconds as the file of
 * `MOVABLE_CLOCK_FILE` says, from one moment to the next, as when an operator sets the clock of a machine. Monotonic
 * time goes on. What it follows stands in the same file with `.seen`.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { isMainThread } from 'node:worker_threads';

const file: string | undefined = process.env['MOVABLE_CLOCK_FILE'];
const readEveryMs = 50;
const RealDate = Date;
let offsetMs = 0;

const nowMs = () => RealDate.now() + offsetMs;

globalThis.Date = new Proxy(RealDate, {
  apply: () => new RealDate(nowMs()).toString(),
  construct: (target, given, newTarget) =>
    Reflect.construct(target, given.length === 0 ? [nowMs()] : given, newTarget),
  get: (target, key) => (key === 'now' ? nowMs : Reflect.get(target, key)),
});

function follow(file: string): void {
  const text = readFileSync(file, 'utf8');
  if (text === '' || Number(text) === offsetMs) return;
  offsetMs = Number(text);
  if (isMainThread) writeFileSync(`${file}.seen`, text);
}

if (file !== undefined) {
  follow(file);
  setInterval(() => follow(file), readEveryMs).unref();
}
