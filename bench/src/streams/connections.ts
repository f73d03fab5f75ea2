import { setTimeout as sleep } from 'node:timers/promises';
import { startChild } from '../child/child.ts';
import type { PhaseResult } from '../latency/load.ts';
import { loadText } from '../report/machine.ts';
import type { World } from '../world/world.ts';
import { streamUrlOf } from './delivery.ts';
import { startOrders } from './orders.ts';
import type { ReaderGroup, ReadersInfo, ReadersJob, ReadersResult } from './readers-job.ts';

/** Cost of many connections for the stream service. */
export interface Connections {
  readonly connections: number;
  /** Resident memory of the service before and with them, bytes. */
  readonly beforeBytes: number;
  readonly withBytes: number;
  readonly subscribedMs: number;
  readonly watchSeconds: number;
  readonly answer: ReadersResult;
}

/** Orders at a rate while connections read and do not read, or without any. */
export interface OrdersPhase {
  readonly load: PhaseResult;
  readonly readers: ReadersResult | null;
  /** Bytes that wait in the service for readers, and their subscriptions, in the middle of the phase. */
  readonly queuedBytes: number;
  readonly subscriptions: number;
  readonly loadAverage: string;
}

const booksPerConnection = 10;
/** Connections of one address: with as many subscriptions as one may have they are within its share of memory. */
export const perAddress = 10;
const settleMs = 3_000;
const beginEveryMs = 500;
const beginTriesMax = 240;
const watchSeconds = 8;

/** Opens connections through the gateway that read some books each, while no one trades. */
export async function measureConnections(world: World, connections: number): Promise<Connections> {
  const beforeBytes = rssOfStreams(world);
  const readers = startReaders(world, [readersOfBooks(world, connections)], watchSeconds);
  try {
    const { subscribedMs } = ((await readers.ready) as { readonly info: ReadersInfo }).info;
    await sleep(settleMs);
    const withBytes = rssOfStreams(world);
    const answer = await readers.go();
    return { connections, beforeBytes, withBytes, subscribedMs, watchSeconds, answer };
  } finally {
    readers.stop();
  }
}

/** Phases in turn: without readers, and with them. */
export async function measureOrders(
  world: World,
  plan: {
    readonly connections: number;
    readonly silent: number;
    readonly perSecond: number;
    readonly seconds: number;
    readonly rounds: number;
  },
): Promise<{
  readonly without: readonly OrdersPhase[];
  readonly withReaders: readonly OrdersPhase[];
}> {
  const { connections, silent, rounds } = plan;
  const [without, withReaders]: [OrdersPhase[], OrdersPhase[]] = [[], []];
  const groups = [
    readersOfBooks(world, connections - silent),
    { count: silent, keys: keysOfAll(world), frames: [framesOfAll(world)], reads: false },
  ];
  for (let round = 0; round < rounds; round += 1) {
    without.push(await ordersPhase(world, plan));
    const readers = startReaders(world, groups, plan.seconds);
    try {
      await readers.ready;
      await begun(world);
      withReaders.push(await ordersPhase(world, plan, () => readers.go()));
    } finally {
      readers.stop();
    }
    await sleep(settleMs);
    console.error(`orders and readers, round ${round + 1} of ${rounds}`);
  }
  return { without, withReaders };
}

async function ordersPhase(
  world: World,
  plan: { readonly perSecond: number; readonly seconds: number },
  read: () => Promise<ReadersResult | null> = async () => null,
): Promise<OrdersPhase> {
  const orders = startOrders(world, { ...plan, markets: world.markets.length });
  try {
    await orders.ready;
    const reading = read();
    const halfTime = sleep(plan.seconds * 500).then(() => statusOf(world));
    const load = await orders.go();
    const status = await halfTime;
    const loadAverage = loadText();
    return { load, readers: await reading, ...status, loadAverage };
  } finally {
    orders.stop();
  }
}

/** Each connection reads some books; the connections together read all of them equally often. */
function readersOfBooks({ markets }: World, count: number): ReaderGroup {
  const all = markets.flatMap(({ tokens }) => tokens);
  const sets = Math.max(1, Math.floor(all.length / booksPerConnection));
  const frames = Array.from({ length: sets }, (_, at) => {
    const tokens = all.slice(at * booksPerConnection, (at + 1) * booksPerConnection);
    return [{ op: 'subscribe', id: 1, channel: 'book', tokens }];
  });
  return { count, keys: booksPerConnection, frames, reads: true };
}

const keysOfAll = ({ markets }: World): number => 5 * markets.length;

/** As many subscriptions as a connection may have, with 200 markets: book, best and orders of all. */
function framesOfAll({ markets }: World): readonly object[] {
  const tokens = markets.flatMap((market) => market.tokens);
  const conditions = markets.map(({ conditionId }) => conditionId);
  return [
    { op: 'subscribe', id: 1, channel: 'book', tokens },
    { op: 'subscribe', id: 2, channel: 'best', tokens },
    { op: 'subscribe', id: 3, channel: 'orders', markets: conditions },
  ];
}

function startReaders({ stack }: World, groups: readonly ReaderGroup[], seconds: number) {
  const url = streamUrlOf(stack.baseUrl);
  const end = { seconds, messages: null, keepsTexts: false };
  const job: ReadersJob = { url, groups, perAddress, ...end };
  return startChild<ReadersResult>('streams-readers', job, { isBackground: true });
}

function rssOfStreams({ stack }: World): number {
  const found = stack.supervisor.status().find(({ name }) => name === 'streams');
  return found?.rssBytes ?? Number.NaN;
}

/** Until every subscription has what it begins with, or its reader takes no more. */
async function begun({ stack }: World): Promise<void> {
  const url = `http://127.0.0.1:${stack.ports.streamsOps}/metrics`;
  for (let tried = 0; tried < beginTriesMax; tried += 1) {
    const text = await (await fetch(url)).text();
    if (/^pm_streams_openings\{[^}]*\} 0$/m.test(text)) return;
    await sleep(beginEveryMs);
  }
  throw new Error('subscriptions do not begin');
}

async function statusOf({ stack }: World) {
  const answer = await fetch(`http://127.0.0.1:${stack.ports.streamsOps}/status`);
  const { queuedBytes, subscriptions } = (await answer.json()) as {
    readonly queuedBytes: number;
    readonly subscriptions: number;
  };
  return { queuedBytes, subscriptions };
}
