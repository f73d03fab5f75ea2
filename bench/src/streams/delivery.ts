import { setTimeout as sleep } from 'node:timers/promises';
import { readExecution } from '@pm/domain/executions/each-execution.io';
import { type PartitionBounds, readRange } from '@pm/kit/kafka';
import type { Execution } from '@pm/schemas/log/executions';
import { streamPaths } from '@pm/schemas/streams/channels';
import { WebSocket } from 'ws';
import type { PhaseResult } from '../latency/load.ts';
import { openRoundTrips, type RoundTrips } from '../latency/round-trip.ts';
import { executionsTopic, type OpenLog, openLog } from '../partition/log.ts';
import { loadText } from '../report/machine.ts';
import type { World } from '../world/world.ts';
import { frameKind } from './frame-kind.ts';
import { type Appended, type Delivered, deliveredOf, type Received } from './matched.ts';
import { startOrders } from './orders.ts';

/** Orders of one rate, with what one subscriber received meanwhile. */
export interface DeliveryPhase {
  readonly perSecond: number;
  readonly delivered: Delivered;
  readonly roundTripMs: readonly number[];
  readonly load: PhaseResult;
  readonly loadAverage: string;
}

export const deliveryMarkets = 16;
/** Between two round trips; fewer would give no 99th percentile. */
const tripPauseMs = 20;
/** Time for the last messages. */
const settleMs = 500;
const openTimeoutMs = 10_000;

/** A subscriber through the gateway, and round trips on the same broker at the same time, while orders are posted. */
export async function measureDelivery(
  world: World,
  { rates, seconds }: { readonly rates: readonly number[]; readonly seconds: number },
): Promise<readonly DeliveryPhase[]> {
  const { keys, urls } = world.stack;
  const { kafka: brokers } = urls;
  const log = await openLog({ brokers, rootKey: keys.rootKey }, 'bench-streams');
  const trips = await openRoundTrips(brokers, tripPauseMs);
  const subscriber = await Subscriber.open(world);
  try {
    const phases: DeliveryPhase[] = [];
    for (const perSecond of rates) {
      phases.push(await runPhase(world, { log, trips, subscriber, perSecond, seconds }));
    }
    return phases;
  } finally {
    subscriber.close();
    await trips.close();
    await log.client.close();
  }
}

interface PhaseParts {
  readonly log: OpenLog;
  readonly trips: RoundTrips;
  readonly subscriber: Subscriber;
  readonly perSecond: number;
  readonly seconds: number;
}

async function runPhase(world: World, parts: PhaseParts): Promise<DeliveryPhase> {
  const { log, trips, subscriber, perSecond, seconds } = parts;
  const orders = startOrders(world, { markets: deliveryMarkets, perSecond, seconds });
  try {
    await orders.ready;
    await sleep(settleMs);
    const from = await boundsOf(log);
    subscriber.clear();
    let isOver = false;
    const travelling = trips.measure(() => isOver);
    const load = await orders.go();
    isOver = true;
    const roundTripMs = await travelling;
    const loadAverage = loadText();
    await sleep(settleMs);
    const appended = await readAppended(log, from, await boundsOf(log));
    const delivered = deliveredOf(subscriber.received(), appended);
    console.error(`${perSecond} orders/s: ${JSON.stringify(load.outcomes)}`);
    return { perSecond, delivered, roundTripMs, load, loadAverage };
  } finally {
    orders.stop();
  }
}

async function boundsOf({ client }: OpenLog): Promise<ReadonlyMap<number, PartitionBounds>> {
  const admin = await client.admin();
  return await admin.bounds(executionsTopic).finally(() => admin.close());
}

/** The records of a phase with the times that the producer of the matcher gave them. */
async function readAppended(
  { client, executions }: OpenLog,
  before: ReadonlyMap<number, PartitionBounds>,
  after: ReadonlyMap<number, PartitionBounds>,
): Promise<readonly Appended[]> {
  const appended: Appended[] = [];
  for (const [partition, { high: to }] of after) {
    const from = before.get(partition)?.high ?? 0;
    await readRange(client, {
      topic: executionsTopic,
      partition,
      from,
      to,
      onBatch: async ({ records }) => {
        for (const record of records) {
          const execution: Execution = await readExecution(executions, record, { partition });
          appended.push({ partition, inOffset: execution.inOffset, atMs: record.timestampMs });
        }
      },
    });
  }
  return appended;
}

/** Streams on a base URL. */
export function streamUrlOf(baseUrl: string): string {
  return `${baseUrl.replace(/^http/, 'ws')}${streamPaths.own}`;
}

/** One connection that notes when each message came. */
class Subscriber {
  readonly #socket: WebSocket;
  readonly #clock = wallClock();
  #seen: { readonly text: Buffer; readonly atMs: number }[] = [];

  private constructor(socket: WebSocket) {
    this.#socket = socket;
    socket.on('message', (text: Buffer) => {
      const atMs = this.#clock();
      if (frameKind(text) === 'data') this.#seen.push({ text, atMs });
    });
  }

  /** Subscribed to the books and trades of the markets in which orders are placed. */
  static async open({ stack, markets }: World): Promise<Subscriber> {
    const traded = markets.slice(0, deliveryMarkets);
    const tokens = traded.map((market) => market.tokens[0]);
    const conditions = traded.map(({ conditionId }) => conditionId);
    const socket = new WebSocket(streamUrlOf(stack.baseUrl));
    const subscriber = new Subscriber(socket);
    let left = 2;
    await new Promise<void>((resolve, reject) => {
      const timer = setTimeout(
        () => reject(new Error('the stream gives no answer')),
        openTimeoutMs,
      );
      socket.on('error', reject);
      socket.on('open', () => {
        socket.send(JSON.stringify({ op: 'subscribe', id: 1, channel: 'book', tokens }));
        const markets = { markets: conditions };
        socket.send(JSON.stringify({ op: 'subscribe', id: 2, channel: 'trades', ...markets }));
      });
      socket.on('message', (text: Buffer) => {
        if (frameKind(text) !== 'subscribed') return;
        left -= 1;
        if (left > 0) return;
        clearTimeout(timer);
        resolve();
      });
    });
    return subscriber;
  }

  clear(): void {
    this.#seen = [];
  }

  /** Messages since `clear`; checksums are left out. */
  received(): readonly Received[] {
    const messages = this.#seen.map(({ text, atMs }) => {
      const { type, at } = JSON.parse(text.toString()) as {
        readonly type: string;
        readonly at: { readonly partition: number; readonly offset: number };
      };
      return { type, partition: at.partition, offset: at.offset, atMs };
    });
    return messages.filter(({ type }) => type !== 'checksum');
  }

  close(): void {
    this.#socket.terminate();
  }
}

/** Unix milliseconds with fractions: the clock that other processes read in whole milliseconds. */
function wallClock(): () => number {
  let offsetMs = Number.NEGATIVE_INFINITY;
  const untilMs = performance.now() + 10;
  // `Date.now()` is cut to whole milliseconds: the largest difference is the true one.
  while (performance.now() < untilMs) offsetMs = Math.max(offsetMs, Date.now() - performance.now());
  return () => performance.now() + offsetMs;
}
