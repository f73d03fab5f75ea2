import { randomBytes, randomUUID } from 'node:crypto';
import type { PortName } from '@pm/deploy/local/ports';
import { ordersPerRequestMax } from '@pm/schemas/http/trading';
import { rateScopes } from '@pm/schemas/rate-limits';
import { bodyMaxBytesOf } from '@pm/schemas/routes/route';
import { publicRoutes } from '@pm/schemas/routes/routes';
import type { Trader, WorldMarket } from '../world/world.ts';

/** A request that a flood sends again and again, with its HMAC made at the time of sending. */
export interface FloodRequest {
  readonly key: Trader['key'];
  readonly method: 'POST' | 'DELETE';
  readonly path: string;
  readonly body: string;
}

/** Connection of a flood and the bytes that it sends over it; then it keeps the connection open. */
export interface HeldConnection {
  readonly listener: PortName;
  readonly bytes: string;
  /** Whether it takes the response. */
  readonly isRead: boolean;
}

/** One kind of flood. */
export interface FloodKind {
  readonly name: string;
  /**
   * Requests a second that one address may send; for a flood of connections, the connections that it opens a second.
   */
  readonly perSecond: number;
  /** From the address of the probe instead of one of its own. */
  readonly isAtProbe: boolean;
  /** Bad proofs for a key lock it out at their address, cancels excepted: the probe's orders come from another one. */
  readonly locksOrders: boolean;
  /** Sent in rotation; empty for new keys, which are made with a signature of the moment, and for connections. */
  readonly requests: readonly FloodRequest[];
  /** Null for requests. */
  readonly held: HeldConnection | null;
}

/** The part of the table that wallets without money at an address get together (`PM_RATE_LIMIT_UNFUNDED_FACTOR`). */
const unfundedFactor = 0.1;
const idsPerRequest = 100;
const unknownLists = 50;
/** Number of orders of each key, which are sent again and again. */
const ordersPerKey = ordersPerRequestMax;
const claimedKeys = 100;

/** Connections that an address opens a second: it has its share within three seconds. */
const connectionsPerSecond = 100;
const unfinishedBytes = bodyMaxBytesOf(publicRoutes.placeOrders);

const idle = { bytes: requestOf('GET /ok'), isRead: true };

/** Floods of the connections that one address can hold without an account, at each listener. */
const heldKinds: readonly FloodKind[] = [
  ...heldAt('idle connections', idle, [
    'gateway',
    'ingress',
    'queryApi',
    'streams',
    'operator',
    'mcp',
  ]),
  ...heldAt(
    'responses that are not taken',
    { bytes: requestOf('GET /openapi.json').repeat(8), isRead: false },
    ['gateway', 'queryApi'],
  ),
  ...heldAt(
    'bodies without an end',
    {
      bytes:
        requestOf('POST /orders', [`Content-Length: ${unfinishedBytes}`]) +
        ' '.repeat(unfinishedBytes - 1),
      isRead: true,
    },
    ['gateway', 'ingress'],
  ),
];

function heldAt(
  name: string,
  held: Omit<HeldConnection, 'listener'>,
  listeners: readonly PortName[],
): readonly FloodKind[] {
  const ofAddress = { isAtProbe: false, locksOrders: false };
  return listeners.map((listener) => ({
    name: `${name} at ${listener}`,
    perSecond: connectionsPerSecond,
    ...ofAddress,
    requests: [],
    held: { ...held, listener },
  }));
}

function requestOf(target: string, headers: readonly string[] = []): string {
  return `${[`${target} HTTP/1.1`, 'Host: localhost', ...headers].join('\r\n')}\r\n\r\n`;
}

/** Units a second of a scope that one address may send in its shorter window: the key limit times a factor. */
function unitsPerSecond(scopeName: string, factor: number): number {
  const window = rateScopes.find(({ name }) => name === scopeName)?.windows[0];
  if (window === undefined) throw new RangeError(`no scope ${scopeName}`);
  return (window.limit / window.seconds) * factor;
}

/** Every kind of flood: by free keys at one address, by bad proofs at the address of the probe, and by connections. */
export function floodKinds(
  keys: readonly Trader[],
  markets: readonly WorldMarket[],
  probe: Trader,
): readonly FloodKind[] {
  const orders = keys.flatMap((trader, at) => ordersOf(trader, markets, at));
  const ofAddress = { isAtProbe: false, locksOrders: false, held: null };
  const ofProbe = { isAtProbe: true, locksOrders: false, held: null };
  const kinds: FloodKind[] = [
    {
      name: `cancels of ${idsPerRequest} unknown ids`,
      perSecond: unitsPerSecond('cancel-orders', unfundedFactor),
      ...ofAddress,
      requests: unknownCancels(keys),
    },
    {
      name: 'orders without money',
      perSecond: unitsPerSecond('orders', unfundedFactor),
      ...ofAddress,
      requests: orders.map(({ key, buy }) => ({ key, method: 'POST', path: '/order', body: buy })),
    },
    {
      name: 'sells without tokens',
      perSecond: unitsPerSecond('orders', unfundedFactor),
      ...ofAddress,
      requests: orders.map(({ key, sell }) => ({
        key,
        method: 'POST',
        path: '/order',
        body: sell,
      })),
    },
    {
      name: `batches of ${ordersPerRequestMax} without money`,
      perSecond: unitsPerSecond('orders', unfundedFactor) / ordersPerRequestMax,
      ...ofAddress,
      requests: batchesOf(keys, orders, '/orders'),
    },
    {
      name: `dry runs of ${ordersPerRequestMax}`,
      perSecond: unitsPerSecond('validate', unfundedFactor) / ordersPerRequestMax,
      ...ofAddress,
      requests: batchesOf(keys, orders.map(badlySigned), '/orders/validate'),
    },
    { name: 'new keys', perSecond: unitsPerSecond('keys', 1), ...ofAddress, requests: [] },
    {
      name: 'bad proofs for other keys',
      perSecond: unitsPerSecond('orders', 1),
      ...ofProbe,
      requests: badProofs(
        Array.from({ length: claimedKeys }, () => unknownKey(probe)),
        orders,
      ),
    },
    {
      name: "bad proofs for the probe's key",
      perSecond: unitsPerSecond('orders', 1),
      isAtProbe: true,
      locksOrders: true,
      held: null,
      requests: badProofs(
        [{ ...probe.key, secret: randomBytes(32).toString('base64url') }],
        orders,
      ),
    },
  ];
  const mixed = mixtureOf(kinds.filter((kind) => !kind.isAtProbe && kind.requests.length > 0));
  return [...kinds, mixed, ...heldKinds];
}

interface KeyOrders {
  readonly key: Trader['key'];
  readonly buy: string;
  readonly sell: string;
}

function ordersOf(trader: Trader, markets: readonly WorldMarket[], at: number): KeyOrders[] {
  return Array.from({ length: ordersPerKey }, (_, index) => {
    const market = markets[(at + index) % markets.length];
    const tokenId = market?.tokens[0] ?? '';
    const shared = { tokenId, price: '0.5', size: String(5 + index) };
    const buy = trader.sign({ ...shared, side: 'BUY' }).body;
    const sell = trader.sign({ ...shared, side: 'SELL' }).body;
    return { key: trader.key, buy, sell };
  });
}

function unknownCancels(keys: readonly Trader[]): FloodRequest[] {
  return Array.from({ length: unknownLists * keys.length }, (_, index) => {
    const key = (keys[index % keys.length] as Trader).key;
    return { key, method: 'DELETE', path: '/orders', body: unknownIds[index % unknownLists] ?? '' };
  });
}

const unknownIds = Array.from({ length: unknownLists }, () =>
  JSON.stringify(
    Array.from({ length: idsPerRequest }, () => `0x${randomBytes(32).toString('hex')}`),
  ),
);

function batchesOf(
  keys: readonly Trader[],
  orders: readonly KeyOrders[],
  path: string,
): FloodRequest[] {
  return keys.map(({ key }) => {
    const own = orders.filter((order) => order.key === key).map(({ buy }) => buy);
    return { key, method: 'POST', path, body: `[${own.join(',')}]` };
  });
}

/** A signature of another order: well formed, and by nobody that may sign here. */
function badlySigned(order: KeyOrders): KeyOrders {
  return { ...order, buy: order.buy.replace(/"makerAmount":"(\d+)"/, '"makerAmount":"9$1"') };
}

function unknownKey({ key }: Trader): Trader['key'] {
  return { ...key, apiKey: randomUUID(), secret: randomBytes(32).toString('base64url') };
}

function badProofs(claims: readonly Trader['key'][], orders: readonly KeyOrders[]): FloodRequest[] {
  return claims.map((key, at) => {
    const body = orders[at % orders.length]?.buy ?? '';
    return { key, method: 'POST', path: '/order', body };
  });
}

/** All kinds in turn, each with its part of what it may send. */
function mixtureOf(kinds: readonly FloodKind[]): FloodKind {
  const perSecond = kinds.reduce((sum, kind) => sum + kind.perSecond, 0);
  const length = 2_000;
  const requests = kinds.flatMap((kind) =>
    Array.from({ length: Math.round((length * kind.perSecond) / perSecond) }, (_, at) => ({
      request: kind.requests[at % kind.requests.length] as FloodRequest,
      at: at / kind.perSecond,
    })),
  );
  const ordered = requests.sort((a, b) => a.at - b.at).map(({ request }) => request);
  return {
    name: 'all of these',
    perSecond,
    isAtProbe: false,
    locksOrders: false,
    requests: ordered,
    held: null,
  };
}
