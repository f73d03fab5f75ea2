import { serveParent } from './child/child.ts';
import { Readers } from './streams/readers.ts';
import type { ReadersInfo, ReadersJob, ReadersResult } from './streams/readers-job.ts';

/** Many connections of `/v1/stream`, in a process of their own. Ready when all of them are subscribed. */
await serveParent(async (job: ReadersJob) => {
  const startedMs = performance.now();
  const readers = new Readers(job);
  await readers.open();
  const info: ReadersInfo = { subscribedMs: performance.now() - startedMs };
  return { info, work: (): Promise<ReadersResult> => readers.watch() };
});
