import { readFileSync } from 'node:fs';
import { Agent, type IncomingMessage, request } from 'node:http';
import { serveParent } from './child/child.ts';
import { answered, type Recording } from './projectors/recorder.ts';
import { cpuSeconds } from './report/on-cpu.ts';

/** Repeats recorded inserts into another database: nothing is decoded, folded or encoded. */
export interface BareJob extends Recording {
  readonly clickhouse: string;
  readonly database: string;
  /** Inserts on their way at a time. */
  readonly inFlight: number;
  /** Inserts of the warm-up. */
  readonly warm: number;
}

export interface BareResult {
  /** From the first byte after the warm-up to the last response. */
  readonly seconds: number;
  readonly cpuSeconds: number;
}

await serveParent(async (job: BareJob) => {
  const bytes = readFileSync(job.file);
  const agent = new Agent({ keepAlive: true, maxSockets: job.inFlight });
  const { hostname: host, port } = new URL(job.clickhouse);

  function insert({ path, headers, from, to }: BareJob['inserts'][number]): Promise<void> {
    const address = `${path}&database=${job.database}`;
    return new Promise((resolve, reject) => {
      const body = bytes.subarray(from, to);
      const sent = request(
        {
          host,
          port,
          agent,
          method: 'POST',
          path: address,
          headers: { ...headers, 'content-length': body.length },
        },
        (response: IncomingMessage) => {
          answered(response).then(resolve, reject);
        },
      );
      sent.once('error', reject);
      sent.end(body);
    });
  }

  const insertAll = async (inserts: BareJob['inserts']): Promise<void> => {
    const waiting = inserts.values();
    const sender = async () => {
      for (const one of waiting) await insert(one);
    };
    await Promise.all(Array.from({ length: job.inFlight }, sender));
  };

  const work = async (): Promise<BareResult> => {
    const [started, startedCpu] = [performance.now(), cpuSeconds()];
    await insertAll(job.inserts.slice(job.warm));
    agent.destroy();
    return {
      seconds: (performance.now() - started) / 1000,
      cpuSeconds: cpuSeconds() - startedCpu,
    };
  };
  await insertAll(job.inserts.slice(0, job.warm));
  return { info: null, work };
});
