import { CompressionTypes, Kafka, logLevel } from 'kafkajs';
import { serveParent } from './child/child.ts';
import { cpuSeconds } from './report/on-cpu.ts';

/** Copies `[from, to)` of partition 0 of one topic to another with kafkajs as it comes out of its box. */
export interface CopyJob {
  readonly brokers: string;
  readonly source: string;
  readonly target: string;
  readonly from: number;
  readonly to: number;
}

export interface CopyResult {
  /** From the start of the consumer's first batch to the last acknowledgement. */
  readonly seconds: number;
  readonly cpuSeconds: number;
  readonly records: number;
}

await serveParent(async (job: CopyJob) => {
  const kafka = new Kafka({
    clientId: 'bench-copy',
    brokers: job.brokers.split(','),
    logLevel: logLevel.NOTHING,
  });
  const producer = kafka.producer({ idempotent: true, maxInFlightRequests: 1 });
  const consumer = kafka.consumer({ groupId: `bench-copy-${process.pid}`, maxWaitTimeInMs: 200 });
  await producer.connect();
  await consumer.connect();
  await consumer.subscribe({ topic: job.source, fromBeginning: false });
  const work = () =>
    new Promise<CopyResult>((resolve, reject) => {
      let [started, startedCpu, records] = [0, 0, 0];
      const finish = async () => {
        const seconds = (performance.now() - started) / 1000;
        const used = cpuSeconds() - startedCpu;
        await producer.disconnect();
        resolve({ seconds, cpuSeconds: used, records });
      };
      consumer
        .run({
          autoCommit: false,
          eachBatch: async ({ batch }) => {
            if (started === 0) [started, startedCpu] = [performance.now(), cpuSeconds()];
            const inside = batch.messages.filter(({ offset }) => {
              return Number(offset) >= job.from && Number(offset) < job.to;
            });
            if (inside.length === 0) return;
            const messages = inside.map(({ value }) => ({ value, partition: 0 }));
            await producer.send({
              topic: job.target,
              messages,
              acks: -1,
              compression: CompressionTypes.None,
            });
            records += inside.length;
            if (Number(inside.at(-1)?.offset) === job.to - 1) await finish();
          },
        })
        .catch(reject);
      consumer.seek({ topic: job.source, partition: 0, offset: String(job.from) });
    });
  return { info: null, work };
});
