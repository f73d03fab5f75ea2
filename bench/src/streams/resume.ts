import { readFileSync } from 'node:fs';
import type { ExchangeKeys } from '@pm/deploy/setup/keys';
import { Catalog } from '@pm/domain/markets/catalog';
import type { LogProducer } from '@pm/kit/kafka';
import { catalogKey } from '@pm/schemas/log/catalog';
import { topics } from '@pm/schemas/log/topics';
import { WebSocket } from 'ws';
import { catalogEntries } from '../catalog/made-up.ts';
import { startService } from '../child/service.ts';
import { executionsTopic, type OpenLog, openLog, operatorProducer } from '../partition/log.ts';
import { makeTrading } from '../projectors/trading.ts';
import { groupsOf } from '../stream/envelopes.ts';
import { booksOf, type Shape } from '../stream/shape.ts';
import { openInstallation } from '../world/installation.ts';
import { frameKind } from './frame-kind.ts';

/** Each run of a resumed subscription. */
export interface ResumeRun {
  /** From the frame to the last message that was missed. */
  readonly seconds: number;
  readonly bytes: number;
}

export interface Resume {
  readonly messages: number;
  /** Records of the log that hold them. */
  readonly records: number;
  readonly runs: readonly ResumeRun[];
}

/** Two markets of the log: half of the commands belong to the one that is resumed. */
const shape: Shape = { name: 'resume', seed: 31, commands: 190_000, markets: 1, tick: 10 };
/** As ingress sends them when many orders come. */
export const commandsPerRecord = 8;
/** Records of one call; the log client splits what is too much for one send. */
const recordsPerSend = 1_000;
const waitMs = 150_000;
const market = 1;

/** A log of a matcher in Kafka, and the stream service alone on it. */
export async function measureResume(messages: number, runs: number): Promise<Resume> {
  const place = await openInstallation();
  try {
    const log = await openLog(place.place, 'bench-resume');
    const records = await fillLog(log, place.keys);
    await log.client.close();
    const description = place.service('streams');
    const service = await startService(description).catch((error: unknown) => {
      console.error(readFileSync(description.logFile, 'utf8').slice(-2_000));
      throw error;
    });
    try {
      const newest = await newestSeq(place.streamUrl);
      const measured: ResumeRun[] = [];
      for (let run = 0; run < runs; run += 1) {
        measured.push(await resume(place.streamUrl, { newest, messages }));
        console.error(`resume, run ${run + 1} of ${runs}`, measured.at(-1));
      }
      return { messages, records, runs: measured };
    } finally {
      await service.stop();
    }
  } finally {
    await place.stop();
  }
}

async function fillLog(log: OpenLog, keys: ExchangeKeys): Promise<number> {
  const producer = await log.client.producer();
  await listMarkets(log, await operatorProducer(log, keys));
  const startMs = Math.floor(Date.now() / 60_000) * 60_000;
  const { opening, stream } = makeTrading(log.executions, {
    shape,
    perEnvelope: commandsPerRecord,
    perSecond: 100,
    startMs,
  });
  for (const values of groupsOf([...opening, ...stream], recordsPerSend)) {
    const place = { topic: executionsTopic, partition: 0, key: null };
    await producer.send(values.map((value) => ({ ...place, value })));
  }
  return opening.length + stream.length;
}

async function listMarkets({ schemas }: OpenLog, producer: LogProducer): Promise<void> {
  const codec = await schemas.codecFor(topics.catalog);
  for (const entry of catalogEntries(booksOf(shape), 7)) {
    const record = { topic: topics.catalog.name, partition: 0, value: codec.encode(entry) };
    await producer.send([{ ...record, key: Buffer.from(catalogKey(entry)) }]);
  }
}

/** The market of the catalog whose orders are resumed. */
function conditionOf(): string {
  const catalog = new Catalog();
  for (const entry of catalogEntries(booksOf(shape), 7)) catalog.apply(entry);
  return catalog.market(market)?.conditionId ?? '';
}

async function newestSeq(url: string): Promise<number> {
  const { frame, socket } = await follow(url, {}, (text) => frameKind(text) === 'snapshot');
  socket.terminate();
  return (JSON.parse(frame.toString()) as { readonly seq: number }).seq;
}

async function resume(
  url: string,
  { newest, messages }: { readonly newest: number; readonly messages: number },
): Promise<ResumeRun> {
  let [left, bytes] = [messages, 0];
  const { socket, sentMs } = await follow(url, { from: { seq: newest - messages } }, (text) => {
    if (frameKind(text) === 'snapshot') throw new Error('the stream does not reach back so far');
    if (frameKind(text) !== 'data') return false;
    bytes += text.length;
    left -= 1;
    return left === 0;
  });
  const seconds = (performance.now() - sentMs) / 1_000;
  socket.terminate();
  return { seconds, bytes };
}

/** Subscribes on a connection of its own, and resolves with the frame that ends the wait. */
async function follow(url: string, from: object, isLast: (frame: Buffer) => boolean) {
  const socket = new WebSocket(url);
  let sentMs = 0;
  const frame = await new Promise<Buffer>((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error('a resumed stream is too slow')), waitMs);
    socket.on('error', reject);
    socket.on('open', () => {
      const keys = { channel: 'orders', markets: [conditionOf()] };
      sentMs = performance.now();
      socket.send(JSON.stringify({ op: 'subscribe', id: 1, ...keys, ...from }));
    });
    socket.on('message', (text: Buffer) => {
      try {
        if (text.includes('"type":"error"')) throw new Error(text.toString());
        if (!isLast(text)) return;
        clearTimeout(timer);
        resolve(text);
      } catch (error) {
        reject(error);
      }
    });
  });
  return { socket, frame, sentMs };
}
