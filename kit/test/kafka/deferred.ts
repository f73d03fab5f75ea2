/** A promise that a test settles. */
export interface Deferred {
  readonly promise: Promise<void>;
  resolve(): void;
  reject(error: unknown): void;
}

export function createDeferred(): Deferred {
  let resolve = () => {};
  let reject: (error: unknown) => void = () => {};
  const promise = new Promise<void>((done, failed) => {
    resolve = done;
    reject = failed;
  });
  return { promise, resolve: () => resolve(), reject: (error) => reject(error) };
}

/** Waits until `holds` is true, 10 seconds at most. */
export async function until(
  holds: () => boolean | Promise<boolean>,
  what: string,
  limitMs = 10_000,
): Promise<void> {
  const deadline = performance.now() + limitMs;
  while (!(await holds())) {
    if (performance.now() > deadline) throw new Error(`waited ${limitMs} ms in vain until ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}
