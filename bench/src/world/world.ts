import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  buildOrder,
  ExchangeClient,
  type OrderIntent,
  type Signer,
  walletFromPrivateKey,
} from '@pm/client';
import type { BrokerCount } from '@pm/deploy/local/engines/kafka-broker';
import { freePorts } from '@pm/deploy/local/ports';
import type { Scale } from '@pm/deploy/stack/scale';
import { type ExtraEnv, wideLimits } from '@pm/deploy/stack/services';
import { type RunningStack, startStack } from '@pm/deploy/stack/stack';
import type { ApiKeyTrio } from '@pm/schemas/http/trading';
import type { OrderId } from '@pm/schemas/ids';
import type { SigningDomain } from '@pm/schemas/signing';

export interface WorldMarket {
  readonly conditionId: string;
  readonly tokens: readonly [string, string];
}

/** A wallet with money and an API key. */
export interface Trader {
  readonly key: ApiKeyTrio & { readonly address: string };
  readonly client: ExchangeClient;
  /** Domain of the signatures of its orders. */
  readonly domain: SigningDomain;
  /** Signs an order and returns the body to send. */
  sign(intent: OrderIntent): { readonly orderId: OrderId; readonly body: string };
}

export interface World {
  readonly stack: RunningStack;
  readonly markets: readonly WorldMarket[];
  readonly traders: readonly Trader[];
  end(): Promise<void>;
}

const depositUsdc = '5000000';

export interface WorldOptions {
  /** Rate limits count and refuse nothing (default); otherwise they are those of the product. */
  readonly hasWideLimits?: boolean;
  /** Processes of each service; one unless given. */
  readonly scale?: Scale;
  /** Local brokers, with a copy of each topic on each; one unless given. */
  readonly brokers?: BrokerCount;
  /** Variables of one process besides its own. */
  readonly env?: { readonly process: string; readonly variables: Readonly<Record<string, string>> };
  /** Where all that trace send their spans; none unless given. */
  readonly traces?: { readonly url: string; readonly share: number };
}

/** The whole stack on free ports in a temporary folder, with markets and traders of the benchmark only. */
export async function openWorld(
  counts: { markets: number; traders: number },
  { hasWideLimits = true, scale = {}, brokers = 1, env, traces }: WorldOptions = {},
): Promise<World> {
  const dataDir = mkdtempSync(join(tmpdir(), 'pm-bench-'));
  const limits = hasWideLimits ? wideLimits : {};
  const stack = await startStack({
    mode: { kind: 'local' },
    dataDir,
    ports: await freePorts(),
    progress: (line) => console.error(line),
    fresh: false,
    seed: false,
    demo: null,
    scale,
    brokers,
    replicationFactor: brokers,
    extraEnv: withTraces(
      {
        ...limits,
        ...(env && { [env.process]: { ...limits[env.process], ...env.variables } }),
      },
      traces,
    ),
  });
  const end = async () => {
    await stack.stop();
    rmSync(dataDir, { recursive: true, force: true });
  };
  try {
    const markets = await listMarkets(stack, counts.markets);
    const traders = [];
    for (let index = 0; index < counts.traders; index += 1) {
      traders.push(await openTrader(stack, index));
    }
    return { stack, markets, traders, end };
  } catch (error) {
    await end();
    throw error;
  }
}

const traced = ['gateway', 'ingress', 'matcher', 'projectors', 'query-api', 'streams'];

function withTraces(env: ExtraEnv, traces: WorldOptions['traces']): ExtraEnv {
  if (traces === undefined) return env;
  const variables = { PM_OTLP_URL: traces.url, PM_TRACE_SHARE: String(traces.share) };
  const more = traced.map((name) => [name, { ...env[name], ...variables }]);
  return { ...env, ...Object.fromEntries(more) };
}

async function listMarkets(stack: RunningStack, count: number): Promise<WorldMarket[]> {
  const { markets } = await stack.operator.importEvents([
    {
      slug: 'bench-event',
      title: 'Bench event',
      endDate: '2030-01-01T00:00:00.000Z',
      markets: Array.from({ length: count }, (_, index) => ({
        slug: `bench-market-${index}`,
        question: `Is benchmark ${index} fast?`,
      })),
    },
  ]);
  return markets.map(({ conditionId, tokenIds }) => ({
    conditionId,
    tokens: [tokenIds[0] ?? '', tokenIds[1] ?? ''],
  }));
}

async function openTrader(stack: RunningStack, index: number): Promise<Trader> {
  const signer = signerOf(traderName(index));
  const transferId = `0x${String(index + 1).padStart(64, '0')}`;
  await stack.operator.deposit([{ transferId, wallet: signer.address, amount: depositUsdc }]);
  return await openKey(stack, signer);
}

export function traderName(index: number): string {
  return `trader ${index}`;
}

/** The wallet of this name in benchmarks. */
export function signerOf(name: string): Signer {
  const secret = createHash('sha256').update(`bench ${name}`).digest('hex');
  return walletFromPrivateKey(`0x${secret}`);
}

/** A key of a wallet, whether or not it has money. */
export async function openKey(stack: RunningStack, signer: Signer): Promise<Trader> {
  const client = new ExchangeClient({ baseUrl: stack.baseUrl, signer });
  const key = { ...(await client.connect()), address: signer.checksummed };
  const domain = await client.signingDomain();
  return { key, client, domain, sign: (intent) => signFor({ signer, key, domain }, intent) };
}

/** Signs an order of a wallet for its key. */
export function signFor(
  { signer, key, domain }: { readonly signer: Signer } & Pick<Trader, 'key' | 'domain'>,
  intent: OrderIntent,
): { readonly orderId: OrderId; readonly body: string } {
  const context = { signer, domain, negRisk: false, owner: key.apiKey, nowMs: Date.now() };
  const { orderId, submission } = buildOrder(intent, context);
  return { orderId, body: JSON.stringify(submission) };
}
