import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { testAccounts } from '@pm/deploy/demo/wallets';
import type { EngineAccess } from '@pm/deploy/local/engines';
import type { BrokerCount } from '@pm/deploy/local/engines/kafka-broker';
import type { Progress } from '@pm/deploy/local/managed-process';
import { freePorts, type Ports } from '@pm/deploy/local/ports';
import { type EngineMode, engineMode } from '@pm/deploy/stack/mode';
import type { Scale } from '@pm/deploy/stack/scale';
import { type ExtraEnv, wideLimits } from '@pm/deploy/stack/services';
import { type RunningStack, type StackOptions, startStack } from '@pm/deploy/stack/stack';
import type { ImportEvent } from '@pm/schemas/http/operator';
import type { SmokeMarket } from './trader.ts';

export interface World {
  readonly stack: RunningStack;
  /** Its data folder. */
  readonly dataDir: string;
  readonly markets: readonly SmokeMarket[];
  /** Settings that a service or tool of this name needs at the engines besides their addresses. */
  accessOf(name: string): EngineAccess;
  /** Ends everything at once and removes the folder. */
  end(): Promise<void>;
}

/** Markets of the world. */
export const marketCount = 24;
const marketsPerEvent = 4;

/** So little that money runs short now and then: such refusals are tested too. */
const depositUsdc = '3000';

/** Initial catalog and money. */
export interface WorldPlan {
  readonly events: readonly ImportEvent[];
  /** First deposit of each test account, USDC. */
  readonly depositUsdc: string;
  /** Whether published clients trade, which sign for other exchanges of the API family. */
  readonly familyDomains: boolean;
  /** Processes of each service; default one. */
  readonly scale?: Scale;
  /** Partitions of the log; default as `npm start`. Each costs all services something, traded or not. */
  readonly partitions?: number | undefined;
}

/** Markets and money of the smoke run, with what differs. */
export function smokePlan(
  differing: Partial<Pick<WorldPlan, 'depositUsdc' | 'scale' | 'partitions'>> = {},
): WorldPlan {
  return { events: events(), depositUsdc, familyDomains: false, ...differing };
}

/** Engines, with the account of each service and tool where they ask for one. */
export interface WorldEngines {
  readonly mode: EngineMode;
  readonly accounts: ExtraEnv;
  /** Local brokers; default 1. */
  readonly brokers?: BrokerCount;
}

const chosenEngines = (): WorldEngines => ({ mode: engineMode(process.env), accounts: {} });

// A restored matcher compares every replayed record with what is stored, byte by byte.
const settings: ExtraEnv = { matcher: { PM_VERIFY_REPLAY: '1' }, ...wideLimits };

function withAccounts(accounts: ExtraEnv): ExtraEnv {
  const names = Object.keys({ ...accounts, ...settings });
  return Object.fromEntries(names.map((name) => [name, { ...accounts[name], ...settings[name] }]));
}

/** The whole stack on free ports in a temporary folder, with a small catalog and funded wallets. */
export async function openWorld(
  progress: Progress,
  plan = smokePlan(),
  engines: WorldEngines = chosenEngines(),
): Promise<World> {
  const dataDir = mkdtempSync(join(tmpdir(), 'exchange-smoke-'));
  const stack = await startStack(
    worldOptions({ dataDir, ports: await freePorts(), progress }, plan, engines),
  );
  try {
    return {
      stack,
      dataDir,
      markets: await fillWorld(stack, plan),
      accessOf: (name) => ({ ...stack.access, ...engines.accounts[name] }),
      end: async () => {
        stack.supervisor.killAll();
        await stack.stop();
        rmSync(dataDir, { recursive: true, force: true });
      },
    };
  } catch (error) {
    await stack.stop();
    throw error;
  }
}

/** Where a world is. */
export interface WorldPlace {
  readonly dataDir: string;
  readonly ports: Ports;
  readonly progress: Progress;
}

/** How the stack of a world starts, each time. */
export function worldOptions(
  place: WorldPlace,
  plan: WorldPlan,
  { mode, accounts, brokers = 1 }: WorldEngines,
): StackOptions {
  return {
    ...place,
    mode,
    fresh: false,
    seed: false,
    demo: null,
    ...(mode.kind === 'local' ? { brokers, replicationFactor: brokers } : {}),
    signing: { familyDomains: plan.familyDomains },
    scale: plan.scale ?? {},
    partitions: plan.partitions,
    extraEnv: withAccounts(accounts),
  };
}

/** Lists the markets of a plan and funds its wallets. */
export async function fillWorld(
  stack: RunningStack,
  plan: WorldPlan,
): Promise<readonly SmokeMarket[]> {
  const { markets } = await stack.operator.importEvents(plan.events);
  await stack.operator.deposit(
    testAccounts().map((account, index) => ({
      transferId: `0x${String(index + 1).padStart(64, '0')}`,
      wallet: account.address,
      amount: plan.depositUsdc,
    })),
  );
  return markets.map((market) => ({
    market: Number(market.id),
    partition: market.partition,
    conditionId: market.conditionId,
    tokenIds: [market.tokenIds[0] ?? '', market.tokenIds[1] ?? ''],
  }));
}

function events(): ImportEvent[] {
  return Array.from({ length: marketCount / marketsPerEvent }, (_, event) => ({
    slug: `smoke-event-${event}`,
    title: `Smoke event ${event}`,
    tags: ['smoke'],
    endDate: '2030-01-01T00:00:00.000Z',
    markets: Array.from({ length: marketsPerEvent }, (_unused, market) => ({
      slug: `smoke-market-${event}-${market}`,
      question: `Does market ${market} of event ${event} work?`,
      feeRateBps: market % 2 === 0 ? 0 : 441,
      negRisk: market === 3,
    })),
  }));
}
