import { setTimeout as sleep } from 'node:timers/promises';
import { testAccounts } from '@pm/deploy/demo/wallets';
import type { Progress } from '@pm/deploy/local/managed-process';
import type { RunningStack } from '@pm/deploy/stack/stack';
import { Random } from '@pm/kit/random';
import { sendBadInput, sendForgedKey } from './bad-input.ts';
import { appendPoison } from './poison.ts';
import { StreamWatch } from './stream-watch.ts';
import { nothingReceived, type Received, Trader } from './trader.ts';
import { marketCount, type World } from './world.ts';

/** Services that are killed while orders flow, in this order where each is killed once. */
export const killed = [
  'ingress',
  'matcher',
  'projectors',
  'query-api',
  'streams',
  'operator',
] as const;

/** How much is traded. */
export interface SmokeLength {
  /** Wallets that trade; through many kills all test wallets do. */
  readonly traders: number;
  /** Markets that are traded, of those of the world. */
  readonly markets: number;
  /** Orders one after the other, of which the latency is known. */
  readonly timedOrders: number;
  /** Actions of each wallet before the first kill. */
  readonly quietActions: number;
  /** Actions, times the number of wallets, before each kill and at the end; kills at random do not wait for them. */
  readonly actionsBeforeKill: number;
  /**
   * Amount that a wallet splits in each market first, USDC; null for no split: then sells are refused until it has
   * bought.
   */
  readonly splitUsdc: string | null;
  /** Pause of a wallet after each action through the kills, milliseconds. */
  readonly pauseMs: number;
}

/** That of `npm run smoke`: wallets trade as fast as they can. */
export const wholeSmoke: SmokeLength = {
  traders: 6,
  markets: marketCount,
  timedOrders: 100,
  quietActions: 45,
  actionsBeforeKill: 4,
  splitUsdc: null,
  pauseMs: 0,
};

/**
 * Orders are on their way at each kill, and leave the processors to what starts again. Each can be paid: a client takes
 * 65 s to be sure of an order that is refused for its money after an attempt was lost.
 */
export const shortSmoke: SmokeLength = {
  traders: 4,
  markets: 12,
  timedOrders: 10,
  quietActions: 25,
  actionsBeforeKill: 1,
  splitUsdc: '100',
  pauseMs: 100,
};

/** Longest time for orders before a kill at random, milliseconds. */
const beforeKillMs = 1_500;
/** A killed service has so long to be ready again, milliseconds. */
const recoveryMaxMs = 60_000;
/** Pause between two looks at what has happened meanwhile, milliseconds. */
const lookEveryMs = 100;

export interface RunResult {
  readonly received: Received;
  /** One wallet and one book by the streams, from before the first order on. */
  readonly streams: StreamWatch;
  /** Problems found during the run; empty when there were none. */
  readonly problems: Readonly<
    Record<'tenTimes' | 'badInput' | 'recovery' | 'readBack', readonly string[]>
  >;
  readonly kills: number;
  /** Milliseconds from a kill to the service being ready again, the longest of each service. */
  readonly recoveryMs: Readonly<Record<string, number>>;
  /** Records that were no envelopes, written straight onto the log. */
  readonly poisonRecords: number;
}

export interface SmokeOptions {
  readonly seed: number;
  /** Kills of services at random; without it each is killed once. */
  readonly kills?: number;
  /** Orders that have a result before it ends; 0 for as many as there are. */
  readonly ordersMin: number;
  readonly length: SmokeLength;
}

/** Trades without faults, then through kills of services, then sends requests that must be refused. */
export async function runSmoke(
  opened: World,
  options: SmokeOptions,
  progress: Progress,
): Promise<RunResult> {
  const { seed, length } = options;
  const world = { ...opened, markets: opened.markets.slice(0, length.markets) };
  const received = nothingReceived();
  const all = testAccounts();
  const accounts = options.kills === undefined ? all.slice(0, length.traders) : all;
  const traders = accounts.map(
    (signer, index) =>
      new Trader(world.stack.baseUrl, signer, { received, random: new Random(seed + index) }),
  );
  await Promise.all(traders.map((trader) => trader.connect()));
  const [watcher] = accounts;
  const [first] = traders;
  const [market] = world.markets;
  if (watcher === undefined || first === undefined || market === undefined)
    throw new RangeError('there is a first of each');
  const streams = await StreamWatch.open(world.stack.baseUrl, watcher, market);
  const { splitUsdc } = length;
  if (splitUsdc !== null)
    await Promise.all(traders.map((trader) => trader.splitIn(world.markets, splitUsdc)));
  progress('one order at a time');
  await timeOrders(world, first, options);
  progress('trading quietly');
  await Promise.all(
    traders.map((trader, index) => tradeFor(world, trader, { ...options, seed: seed + index })),
  );
  const ordersOf = ({ placed, refused }: Received) => placed.size + refused.size;
  const hasEnough = () => ordersOf(received) >= options.ordersMin;
  const victims = victimsOf(options);
  const recoveryMs = await tradeThroughKills(world, traders, {
    ...options,
    victims,
    hasEnough,
    progress,
  });
  const tenTimes = await first.sendTenTimes({
    tokenId: market.tokenIds[0],
    side: 'BUY',
    price: '0.01',
    size: '5',
  });
  const key = { ...(await first.connect()), address: watcher.checksummed };
  const badInput = [
    ...(await sendBadInput(world.stack.baseUrl)),
    ...(await sendForgedKey(world.stack.baseUrl, key)),
  ];
  const poisonRecords = await appendPoison(world);
  const recovery = Object.entries(recoveryMs)
    .filter(([, ms]) => ms > recoveryMaxMs)
    .map(([name]) => `${name} was not back after ${recoveryMaxMs} ms`);
  return {
    received,
    streams,
    problems: {
      tenTimes: tenTimes === null ? [] : [tenTimes],
      badInput,
      recovery,
      readBack: received.unread,
    },
    kills: victims.length,
    recoveryMs,
    poisonRecords,
  };
}

/** Sends orders one after the other without other load: the latency of a result. */
async function timeOrders(
  world: World,
  trader: Trader,
  { seed, length }: SmokeOptions,
): Promise<void> {
  const random = new Random(seed * 3 + 2);
  for (let order = 0; order < length.timedOrders; order += 1) {
    await trader.timeOne(random.pick(world.markets));
  }
}

async function tradeFor(
  world: World,
  trader: Trader,
  { seed, length }: SmokeOptions,
): Promise<void> {
  const random = new Random(seed * 7 + 1);
  for (let action = 0; action < length.quietActions; action += 1) {
    await trader.act(random.pick(world.markets));
  }
}

function victimsOf({ seed, kills }: SmokeOptions): readonly string[] {
  if (kills === undefined) return killed;
  const random = new Random(seed);
  return Array.from({ length: kills }, () => random.pick(killed));
}

interface KillPlan extends SmokeOptions {
  readonly victims: readonly string[];
  readonly progress: Progress;
  hasEnough(): boolean;
}

async function tradeThroughKills(
  world: World,
  traders: readonly Trader[],
  how: KillPlan,
): Promise<Record<string, number>> {
  const { pauseMs, actionsBeforeKill } = how.length;
  let [over, actions] = [false, 0];
  const trading = Promise.all(
    traders.map(async (trader, index) => {
      const random = new Random(how.seed * 13 + index);
      while (!over) {
        await trader.act(random.pick(world.markets));
        actions += 1;
        if (pauseMs > 0) await sleep(pauseMs);
      }
    }),
  );
  const untilActed = async () => {
    const wanted = actions + actionsBeforeKill * traders.length;
    while (actions < wanted && !over) await sleep(lookEveryMs);
  };
  const recoveryMs: Record<string, number> = {};
  const random = new Random(how.seed * 17);
  try {
    for (const [index, name] of how.victims.entries()) {
      const isAtRandom = how.kills !== undefined;
      const flow = isAtRandom ? sleep(random.integer(0, beforeKillMs)) : untilActed();
      await Promise.race([flow, trading]);
      how.progress(`kill -9 ${name} (${index + 1} of ${how.victims.length})`);
      const backMs = await killAndWait(world.stack, name);
      how.progress(`${name} is back after ${backMs} ms`);
      recoveryMs[name] = Math.max(recoveryMs[name] ?? 0, backMs);
    }
    do await Promise.race([untilActed(), trading]);
    while (!how.hasEnough());
  } finally {
    over = true;
    await trading;
  }
  return recoveryMs;
}

/** Kills a service and waits until the supervisor has it ready again. */
async function killAndWait(stack: RunningStack, name: string): Promise<number> {
  const before = restartsOf(stack, name);
  const killedAt = performance.now();
  stack.supervisor.kill(name, 'SIGKILL');
  const elapsed = () => Math.round(performance.now() - killedAt);
  while (elapsed() <= recoveryMaxMs) {
    await sleep(lookEveryMs);
    const status = stack.supervisor.status().find((one) => one.name === name);
    if (status?.state === 'ready' && status.restarts > before) return elapsed();
  }
  return elapsed();
}

function restartsOf(stack: RunningStack, name: string): number {
  return stack.supervisor.status().find((one) => one.name === name)?.restarts ?? 0;
}
