import { loadText } from '../report/machine.ts';
import { msText, ratioText } from '../report/numbers.ts';
import type { Table } from '../report/report.ts';
import { openWorld, type World } from '../world/world.ts';
import { measureConnections, measureOrders, perAddress } from './connections.ts';
import { measureConsole } from './console.ts';
import { deliveryMarkets, measureDelivery } from './delivery.ts';
import { measureFanOut, slices } from './fan-out.ts';
import { commandsPerRecord, measureResume } from './resume.ts';
import {
  connectionsTable,
  consoleTable,
  deliveryTable,
  fanOutRatio,
  fanOutTable,
  ordersTable,
  readersText,
  resumeTable,
} from './tables.ts';

export type Part = 'delivery' | 'fan-out' | 'connections' | 'resume' | 'console' | 'orders';

/** Content that one part of the benchmark adds to its report. */
export interface Section {
  readonly part: Part;
  readonly conditions: readonly string[];
  readonly tables: readonly Table[];
  readonly notes: readonly string[];
  readonly figures: unknown;
}

export interface Sizes {
  /** Duration of each phase with orders, seconds. */
  readonly seconds: number;
  readonly connections: number;
  /** Readers of each server of the fan-out. */
  readonly readers: number;
  /** Rounds of the resume. */
  readonly rounds: number;
}

const deliveryRates = [100, 300];
/** Each order is at least five messages for each of those that read nothing: little is left of two cores at more. */
const ordersPerSecond = 20;
const ordersRounds = 3;
/** Phases of orders beside readers are so many times as long as others, for a p99 at few orders a second. */
const ordersSecondsFactor = 2;
const resumeMessages = 100_000;
/** Share of the connections that read nothing. */
const silentShare = 0.1;
/** With 200 of them a connection can have 1,000 subscriptions, the limit: two channels by token, one by market. */
const marketCount = 200;
const traderCount = 16;

/** Runs the wanted parts: those without a stack first. */
export async function collectSections(
  wanted: ReadonlySet<Part>,
  sizes: Sizes,
): Promise<readonly Section[]> {
  const sections: Section[] = [];
  if (wanted.has('fan-out')) sections.push(await whole('fan-out', () => fanOut(sizes)));
  if (wanted.has('resume')) sections.push(await whole('resume', () => resume(sizes)));
  const ofStack = [
    ['delivery', delivery],
    ['console', firstView],
    ['connections', connections],
    ['orders', orders],
  ] as const;
  if (!ofStack.some(([part]) => wanted.has(part))) return sections;
  const world = await openWorld({ markets: marketCount, traders: traderCount });
  try {
    for (const [part, run] of ofStack) {
      if (wanted.has(part)) sections.push(await whole(part, () => run(world, sizes)));
    }
  } finally {
    await world.end();
  }
  return sections;
}

/** The part, or the reason why it was not measured: the others are measured all the same. */
async function whole(part: Part, run: () => Promise<Section>): Promise<Section> {
  try {
    return await run();
  } catch (error) {
    console.error(error);
    process.exitCode = 1;
    const reason = error instanceof Error ? error.message : String(error);
    const notes = [`**Not measured: ${part}** (${reason}).`];
    return { part, conditions: [], tables: [], notes, figures: null };
  }
}

async function delivery(world: World, { seconds }: Sizes): Promise<Section> {
  const phases = await measureDelivery(world, { rates: deliveryRates, seconds });
  const late = Math.max(...phases.map(({ load }) => load.plannedLateMs));
  return {
    part: 'delivery',
    conditions: [
      `Matched to received: whole stack, 8 partitions; orders through the gateway at planned moments from a process of its own, ${seconds} s a rate after 3 s of warm-up, in ${deliveryMarkets} markets; every second order is a fill. One subscriber through the gateway reads the books and trades of these markets.`,
      'Matched is the moment that the producer of the matcher writes into the record of `executions` as it begins to send it: the order is matched, and not yet in the log. Received is when the subscriber has the last message of that record. Both are the clock of this machine; the first is cut to whole milliseconds, so that up to one too many is counted. What a record waits for the send before it is not in it, as in the round trip.',
      'Round trip: a record of 256 bytes, idempotent acks=all send and read with the same client library, on a topic of its own, in the process of the subscriber and at the same time.',
    ],
    tables: [deliveryTable(phases)],
    notes: [`Posting was late by ${msText(late)} ms at most.`],
    figures: phases.map(({ load: { latenciesMs: _, ...load }, ...rest }) => ({ ...rest, load })),
  };
}

async function fanOut({ readers }: Sizes): Promise<Section> {
  const plans = [
    { name: 'one', tokensPerMarket: 1, perTurn: 1 },
    { name: 'two, of one record', tokensPerMarket: 2, perTurn: 1 },
    { name: 'up to 64, of 32 records', tokensPerMarket: 2, perTurn: 32 },
  ] as const;
  const found = [];
  for (const plan of plans) found.push(await measureFanOut({ ...plan, readers }));
  const [{ messages, bytes } = { messages: 0, bytes: 0 }] = found;
  return {
    part: 'fan-out',
    conditions: [
      `Fan-out: hub and listener of the service with decoding and fold of the records of a matcher, without Kafka and the check of their chain; the bare server is \`ws\` alone, with the bytes that a reader of the hub got, in the same turns of the event loop. Each is a process with ${readers} readers in another one; they deliver the same ${slices.warm + slices.measured} slices in turn, of which ${slices.warm} warm up; ${messages.toLocaleString('en')} messages of ${(bytes / messages).toFixed(0)} bytes to each reader with one token a market. Load average after it ${loadText()}.`,
    ],
    tables: [fanOutTable(found)],
    notes: [
      `Fan-out, messages of ${found.map((one) => `${one.name}: ${ratioText(fanOutRatio(one))}`).join('; ')}. What one turn brings for a connection is written at once, so that the ratio passes 1 as soon as that are two messages.`,
    ],
    figures: found,
  };
}

async function resume({ rounds }: Sizes): Promise<Section> {
  const found = await measureResume(resumeMessages, rounds);
  return {
    part: 'resume',
    conditions: [
      `Resume: ${found.records.toLocaleString('en')} records of a partition in Kafka, ${commandsPerRecord} commands each, of two markets; the stream service alone, caught up. One client subscribes to the orders of a market with the position before its newest ${resumeMessages.toLocaleString('en')} messages and reads them all; they are read out of Kafka, decoded, folded and rendered for it. Load average after it ${loadText()}.`,
    ],
    tables: [resumeTable(found)],
    notes: [],
    figures: found,
  };
}

async function connections(world: World, sizes: Sizes): Promise<Section> {
  const found = await measureConnections(world, sizes.connections);
  return {
    part: 'connections',
    conditions: [
      `Connections: through the gateway from another process, ${perAddress} from each of several loopback addresses, as the memory of one address is limited; the memory is that of the stream service alone, before the first of them and three seconds after the last one was subscribed, without a collection of garbage. Heartbeats are watched for ${found.watchSeconds} s. Load average after it ${loadText()}.`,
    ],
    tables: [connectionsTable(found)],
    notes: [],
    figures: { ...found, answer: { ...found.answer, texts: [] } },
  };
}

async function orders(world: World, sizes: Sizes): Promise<Section> {
  const { connections: count } = sizes;
  const seconds = sizes.seconds * ordersSecondsFactor;
  const silent = Math.round(count * silentShare);
  const plan = { connections: count, silent, perSecond: ordersPerSecond, seconds };
  const found = await measureOrders(world, { ...plan, rounds: ordersRounds });
  const { without, withReaders } = found;
  const subscriptions = withReaders[0]?.subscriptions ?? 0;
  return {
    part: 'orders',
    conditions: [
      `Orders and readers: ${ordersPerSecond} orders/s through the gateway over ${marketCount} markets, ${seconds} s a phase after 3 s of warm-up, ${ordersRounds} phases each in turn; ${count} connections through the same gateway of which ${count - silent} read ten books each and ${silent} have as many subscriptions as one may have and read nothing: ${subscriptions.toLocaleString('en')} subscriptions. The readers run on the same cores, with the lowest priority.`,
    ],
    tables: [ordersTable(without, withReaders)],
    notes: [readersText(withReaders, seconds)],
    figures: found,
  };
}

async function firstView(world: World): Promise<Section> {
  const found = await measureConsole(world.stack.baseUrl);
  return {
    part: 'console',
    conditions: [
      `Console: the files that the page itself loads, compressed by gzip; a browser without a window and with an empty cache for each run, from the gateway of this machine after one run that is not counted.`,
    ],
    tables: [consoleTable(found)],
    notes: [],
    figures: found,
  };
}
