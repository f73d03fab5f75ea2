import { type Child, startChild } from '../child/child.ts';
import type { Shape } from '../stream/shape.ts';
import type { BareJob } from '../streams-bare.ts';
import type { HubInfo, HubJob } from '../streams-hub.ts';
import type { SliceTimes } from './deliver.ts';
import type { ReadersJob, ReadersResult } from './readers-job.ts';
import { byRecord, partsOf } from './slices.ts';

/** One command a record; the markets of bench:matching are books of one token, two of them a market. */
const shape: Shape = { name: 'fan-out', seed: 29, commands: 3_000, markets: 10, tick: 10 };
/** Parts that the two servers deliver in turn, the first ones to warm up. */
export const slices = { warm: 6, measured: 14 } as const;
const secondsMax = 90;

/** Delivery rates of a slice. */
export interface FanOutRate {
  /** Messages delivered per second of the server's processor time. */
  readonly perCpuSecond: number;
  readonly perSecond: number;
}

export interface FanOutPlan {
  /** Name of the plan: the messages that a connection gets in one turn of the event loop. */
  readonly name: string;
  readonly readers: number;
  readonly perTurn: HubJob['perTurn'];
  readonly tokensPerMarket: HubJob['tokensPerMarket'];
}

export interface FanOut extends FanOutPlan {
  /** Messages of one reader in the measured slices, and their bytes. */
  readonly messages: number;
  readonly bytes: number;
  readonly hub: readonly FanOutRate[];
  readonly bare: readonly FanOutRate[];
}

/** Hub and bare server, each a process with readers of its own, deliver the same slices in turn. */
export async function measureFanOut(plan: FanOutPlan): Promise<FanOut> {
  const texts = await textsOf(plan);
  const hub = await startHub(plan, plan.readers, false);
  const parts = partsOf(texts, hub.info.messages);
  const bare = await startBare(plan, parts).catch((error: unknown) => {
    hub.stop();
    throw error;
  });
  try {
    const ratesOf = async ({ server }: Served, at: number): Promise<FanOutRate> => {
      const times = await server.go();
      const messages = (parts[at]?.length ?? 0) * plan.readers;
      return { perCpuSecond: messages / times.cpuSeconds, perSecond: messages / times.seconds };
    };
    const rates: { readonly hub: FanOutRate; readonly bare: FanOutRate }[] = [];
    for (let at = 0; at < parts.length; at += 1) {
      rates.push({ hub: await ratesOf(hub, at), bare: await ratesOf(bare, at) });
    }
    for (const { readers } of [hub, bare]) assertComplete(await readers, texts.length);
    const measured = rates.slice(slices.warm);
    const measuredTexts = parts.slice(slices.warm).flat();
    return {
      ...plan,
      messages: measuredTexts.length,
      bytes: measuredTexts.reduce((sum, text) => sum + text.length, 0),
      hub: measured.map((one) => one.hub),
      bare: measured.map((one) => one.bare),
    };
  } finally {
    hub.stop();
    bare.stop();
  }
}

/** The messages that one reader of a hub gets. */
async function textsOf(plan: FanOutPlan): Promise<readonly string[]> {
  const hub = await startHub(plan, 1, true);
  try {
    for (const _ of hub.info.messages) await hub.server.go();
    return (await hub.readers).texts;
  } finally {
    hub.stop();
  }
}

interface Served {
  readonly server: Child<SliceTimes>;
  readonly readers: Promise<ReadersResult>;
  stop(): void;
}

async function startHub(
  { perTurn, tokensPerMarket }: FanOutPlan,
  readers: number,
  keepsTexts: boolean,
): Promise<Served & { readonly info: HubInfo }> {
  const count = slices.warm + slices.measured;
  const job: HubJob = { shape, slices: count, perTurn, tokensPerMarket };
  const server = startChild<SliceTimes>('streams-hub', job);
  const { info } = (await server.ready) as { readonly info: HubInfo };
  const frames = [[{ op: 'subscribe', id: 1, channel: 'book', tokens: info.tokens }]];
  const messages = info.messages.reduce((sum, one) => sum + one, 0);
  const groups = [{ count: readers, keys: info.tokens.length, frames, reads: true }];
  return { info, ...(await serve(server, { url: info.url, groups, messages, keepsTexts })) };
}

async function startBare(
  { readers, perTurn }: FanOutPlan,
  parts: readonly (readonly string[])[],
): Promise<Served> {
  const job: BareJob = { slices: parts.map(byRecord), perTurn };
  const server = startChild<SliceTimes>('streams-bare', job);
  const { info: url } = (await server.ready) as { readonly info: string };
  const groups = [{ count: readers, keys: 1, frames: [[]], reads: true }];
  return await serve(server, { url, groups, messages: parts.flat().length, keepsTexts: false });
}

/** Connects the readers; they read until they have all messages. */
async function serve(
  server: Child<SliceTimes>,
  given: Pick<ReadersJob, 'url' | 'groups' | 'messages' | 'keepsTexts'>,
): Promise<Served> {
  const perAddress = Number.MAX_SAFE_INTEGER;
  const job: ReadersJob = { ...given, perAddress, seconds: secondsMax };
  const reading = startChild<ReadersResult>('streams-readers', job);
  const stop = () => {
    reading.stop();
    server.stop();
  };
  try {
    await reading.ready;
  } catch (error) {
    stop();
    throw error;
  }
  return { server, readers: reading.go(), stop };
}

function assertComplete({ fewest, most }: ReadersResult, messages: number): void {
  if (fewest === messages && most === messages) return;
  throw new Error(`readers got ${fewest} to ${most} messages instead of ${messages}`);
}
