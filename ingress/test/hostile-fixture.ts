import { createHmac } from 'node:crypto';
import type { WalletAddress } from '@pm/schemas/ids';
import type { ExecutionEvent } from '@pm/schemas/log/executions';
import { type HttpRoute, urlsOf } from '@pm/schemas/routes/route';
import { headers as names, timeToBookHeader } from '@pm/schemas/signing';
import type { InjectOptions } from 'fastify';
import type { Dice } from '../../kit/test/hostile/dice.ts';
import { hostileTexts, hostileValue } from '../../kit/test/hostile/hostile-values.ts';
import { schemaValue } from '../../kit/test/hostile/schema-value.ts';
import { spoil, spoilBytes } from '../../kit/test/hostile/spoil.ts';
import { testDomain } from '../../kit/test/signing-domain.ts';
import {
  type Answerer,
  answered,
  type IngressUnderTest,
  nowSeconds,
  restsAs,
  testOrder,
  trioIn,
} from './ingress-fixture.ts';
import { attestation } from './keys-fixture.ts';
import {
  signedBy,
  type TestOrder,
  type TestWallet,
  walletOf,
  withHighS,
} from './wallet-fixture.ts';
import { nameOf, type Sender, writeRouteOf } from './write-routes-fixture.ts';

/** A caller that may do everything, with every proof that a route could ask for. */
export interface Caller extends Sender {
  readonly wallet: TestWallet;
  readonly trio: { readonly apiKey: string; readonly secret: string; readonly passphrase: string };
  readonly agents: readonly string[];
  /** Comments that were written last, by anyone: earlier ones are soon deleted. */
  readonly comments: readonly string[];
  readonly attestation: Readonly<Record<string, string>>;
}

export const callerWallets = [21, 22, 23, 24].map(walletOf);

export async function openCaller(ingress: IngressUnderTest, wallet: TestWallet): Promise<Caller> {
  const address = wallet.address as WalletAddress;
  const trio = trioIn(await ingress.keys.create(address, '0'));
  const readKey = await ingress.services.accounts.readOnlyKeys.create(address);
  const agent = await ingress.services.accounts.agents.create(address, 'agent');
  return {
    wallet,
    trio,
    readKey: typeof readKey === 'string' ? readKey : '',
    agents: 'agent' in agent ? [agent.agent.id] : [],
    comments: [],
    attestation: attestation(wallet),
    orders: ordersOf(wallet).map((order) => ({ order, owner: trio.apiKey, orderType: 'GTC' })),
  };
}

const goodOrders = 12;
const domain = testDomain;
const zeroes = '00'.repeat(32);
/** The order of the curve: no r and no s may reach it. */
const curveOrder = 'fffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141';

function ordersOf(wallet: TestWallet): readonly object[] {
  const mine = { maker: wallet.address, signer: wallet.address };
  const good = Array.from({ length: goodOrders }, (_, index) =>
    testOrder({ ...mine, side: index % 3 === 0 ? 'SELL' : 'BUY' }),
  );
  const order = testOrder(mine);
  const { signature } = signedBy(wallet, order, domain);
  const [r, s, v] = [signature.slice(2, 66), signature.slice(66, 130), signature.slice(130)];
  const otherChain = signedBy(wallet, order, { ...domain, chainId: 1 }).signature;
  const otherName = signedBy(wallet, order, { ...domain, name: 'Another Exchange' }).signature;
  const forged = signedBy(walletOf(77), order, domain).signature;
  const wrong = [
    ...[withHighS(signature), otherChain, otherName, forged, `0x${zeroes}${zeroes}1b`],
    ...[`0x${r}${s}${v === '1b' ? '1c' : '1b'}`, `0x${r}${s}00`, `0x${r}${s}1d`, `0x${r}${s}ff`],
    ...[`0x${zeroes}${s}${v}`, `0x${r}${zeroes}${v}`, `0x${curveOrder}${s}${v}`],
    ...[`0x${r}${curveOrder}${v}`, `${signature}00`, `0x${'ff'.repeat(65)}`],
  ];
  const byType = [1, 2, 3].map((signatureType) => signedOrder(wallet, { ...order, signatureType }));
  return [
    ...good.map((one) => signedOrder(wallet, one)),
    ...wrong.map((text) => ({ ...order, signature: text })),
    ...byType,
  ];
}

function signedOrder(wallet: TestWallet, order: TestOrder): object {
  return { ...order, signature: signedBy(wallet, order, domain).signature };
}

/** A request as it is injected, with the route it is meant for. */
export interface Hostile {
  readonly route: HttpRoute;
  readonly method: string;
  readonly url: string;
  readonly body: Buffer | null;
  readonly headers: Readonly<Record<string, string | string[]>>;
  /** Whether it reaches the route: another method or a broken path may reach none. */
  readonly isRouted: boolean;
}

/** One hostile request to the route: wrong in one part or in a few, or in none. */
export function hostileRequest(route: HttpRoute, caller: Caller, dice: Dice): Hostile {
  const method = dice.isOneIn(40) ? dice.pick(otherMethods) : route.method;
  const url = urlOf(route, caller, dice);
  const body = bodyOf(route, caller, dice);
  const credentials = credentialsOf({ method, url, body }, caller, dice);
  const headers = { ...bodyHeaders(body, dice), ...credentials, ...extraHeaders(dice) };
  const isRouted = method === route.method && !url.endsWith(undecodable);
  return { route, method, url, body, headers, isRouted };
}

/** A request to the route as it should be, of a caller that has something to name in the path. */
export function plainRequest(route: HttpRoute, caller: Caller, dice: Dice): Hostile {
  const { body: schema, sample, query } = writeRouteOf(route);
  const named = route.path.startsWith('/comments') ? caller.comments.at(-1) : caller.agents.at(-1);
  const path = route.path.replace(/:\w+/, named ?? '1');
  const { method } = route;
  if (schema === null) {
    const url = query === undefined ? path : `${path}?${query}`;
    const bare = { method, url, body: null };
    return { ...bare, route, headers: signedHeadersOf(bare, caller), isRouted: true };
  }
  // The first one is a sale for more than a share can be worth.
  const [, order] = caller.orders;
  const isOrders = nameOf(route).startsWith('POST /orders');
  const isOrder = nameOf(route) === 'POST /order';
  const value = isOrders ? [order] : isOrder ? order : sample?.(caller);
  const body = Buffer.from(JSON.stringify(value ?? schemaValue(schema, dice)));
  const sent = { method, url: path, body };
  const headers = { 'content-type': 'application/json', ...signedHeadersOf(sent, caller) };
  return { ...sent, route, headers, isRouted: true };
}

const otherMethods = ['PUT', 'PATCH', 'GET', 'HEAD', 'POST', 'DELETE', 'OPTIONS'];

export function injectionOf({ method, url, headers, body }: Hostile): InjectOptions {
  const sent = { method, url, headers } as InjectOptions;
  return body === null ? sent : { ...sent, payload: body };
}

const undecodable = '%ff%';

function urlOf(route: HttpRoute, caller: Caller, dice: Dice): string {
  const { url } = dice.pick(urlsOf(route));
  const named = url.replace(/:\w+/g, () => {
    const known = [...caller.agents, ...caller.comments, '1', '2', '3'];
    return dice.isOneIn(3)
      ? escaped(dice.pick(hostileTexts).slice(0, 80)) || 'x'
      : dice.pick(known);
  });
  if (dice.isOneIn(60)) return named + undecodable;
  const { query } = writeRouteOf(route);
  const kind = dice.below(6);
  if (kind < 3) return query === undefined || kind === 0 ? named : `${named}?${query}`;
  const pairs = Array.from({ length: 1 + dice.below(4) }, () => {
    const name = dice.isOneIn(2) && query !== undefined ? query.split('=')[0] : 'ids';
    return `${dice.pick([name, '__proto__', 'key', 'x[]', ''])}=${escaped(dice.pick(hostileTexts))}`;
  });
  return `${named}?${pairs.join('&')}`;
}

/** As a careful client would write it; half a surrogate pair has no UTF-8. */
function escaped(text: string): string {
  return encodeURIComponent(text.replace(/[\ud800-\udfff]/gu, '\ufffd'));
}

function bodyOf(route: HttpRoute, caller: Caller, dice: Dice): Buffer | null {
  if (dice.isOneIn(12)) return null;
  const value = bodyValue(route, caller, dice);
  const kind = dice.below(6);
  if (kind === 0) return Buffer.from(JSON.stringify(value));
  if (kind > 3) return spoilBytes(JSON.stringify(value), dice);
  let spoiled = value;
  for (let times = 0; times < kind; times += 1) spoiled = spoil(spoiled, dice);
  return Buffer.from(JSON.stringify(spoiled) ?? '');
}

const aNumberOfOrders = [1, 2, 3, 15, 16];

function bodyValue(route: HttpRoute, caller: Caller, dice: Dice): unknown {
  const { body, sample } = writeRouteOf(route);
  if (body === null) return hostileValue(dice);
  if (dice.isOneIn(3)) return schemaValue(body, dice);
  if (nameOf(route) === 'POST /order') return dice.pick(caller.orders);
  if (nameOf(route).startsWith('POST /orders')) {
    const length = dice.pick(aNumberOfOrders);
    return Array.from({ length: dice.isOneIn(3) ? length : 1 }, () => dice.pick(caller.orders));
  }
  return sample === undefined ? schemaValue(body, dice) : sample(caller);
}

function bodyHeaders(body: Buffer | null, dice: Dice): Record<string, string> {
  if (body === null && dice.isOneIn(2)) return {};
  if (!dice.isOneIn(15)) return { 'content-type': 'application/json' };
  return { 'content-type': dice.pick(contentTypes) };
}

const contentTypes = [
  ...['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data; boundary=x', ''],
  ...['application/json; charset=utf-16', 'application/json;', 'application/jsonx', '*/*', '/'],
  ...['application/json; charset=UTF-8', 'APPLICATION/JSON', 'text/json', 'x'.repeat(500)],
];

function extraHeaders(dice: Dice): Record<string, string> {
  if (!dice.isOneIn(4)) return {};
  const name = dice.pick([
    ...['idempotency-key', timeToBookHeader, 'x-request-id', 'accept', 'content-encoding'],
    ...['x-forwarded-for', 'host', 'cookie', 'accept-encoding', 'origin', '__proto__'],
  ]);
  const plain = dice.pick([`key-${dice.below(50)}`, '100', 'gzip', 'a, b', 'é'.repeat(300), '']);
  return { [name.toLowerCase()]: plain };
}

interface Signable {
  readonly method: string;
  readonly url: string;
  readonly body: Buffer | null;
}

function credentialsOf(sent: Signable, caller: Caller, dice: Dice): Hostile['headers'] {
  const kind = dice.below(20);
  if (kind === 0) return {};
  if (kind === 1) return { ...caller.attestation };
  if (kind === 2) {
    return { [names.address]: caller.wallet.address, [names.readOnlyKey]: caller.readKey };
  }
  const good = signedHeadersOf(sent, caller);
  return kind > 5 ? good : spoilHeaders(good, dice);
}

/** The five headers of a private request. */
export function signedHeadersOf(
  { method, url, body }: Signable,
  { wallet, trio }: Pick<Caller, 'wallet' | 'trio'>,
): Record<string, string> {
  const timestamp = String(nowSeconds);
  const digest = createHmac('sha256', Buffer.from(trio.secret, 'base64'))
    .update(`${timestamp}${method}${url.split('?')[0]}`)
    .update(body ?? '')
    .digest('base64url');
  return {
    [names.address]: wallet.address,
    [names.apiKey]: trio.apiKey,
    [names.passphrase]: trio.passphrase,
    [names.timestamp]: timestamp,
    [names.signature]: digest,
  };
}

const staleBySeconds = [300, 301, -301, 10_000_000];

function spoilHeaders(good: Record<string, string>, dice: Dice): Hostile['headers'] {
  const name = dice.pick(Object.keys(good));
  const value = good[name] ?? '';
  const { [name]: _left, ...others } = good;
  const bytes = Buffer.from(value, 'base64url');
  const spoiled: string | string[] = dice.pick<string | string[]>([
    ...[value.slice(1), `${value} `, `${value}=`, value.toUpperCase(), `"${value}"`, '', '0'],
    ...[bytes.toString('hex'), bytes.toString('base64'), 'x'.repeat(2_000), '\u0000', 'é'],
    ...['-1', '1e9', `${nowSeconds - dice.pick(staleBySeconds)}`, '9'.repeat(20), 'null'],
  ]);
  if (dice.isOneIn(5)) return others;
  return { ...good, [name]: dice.isOneIn(6) ? [value, String(spoiled)] : spoiled };
}

/** A matcher that carries out every command. */
export const carriesOut: Answerer = (command) => {
  if (command.kind === 'PlaceOrder') return restsAs(command);
  const actions = { SplitPosition: 'SPLIT', MergePosition: 'MERGE', RedeemPosition: 'REDEEM' };
  const action = Reflect.get(actions, command.kind) as string | undefined;
  if (action === undefined) return answered([]);
  const sums = { token0Micro: 1, token1Micro: 1, paidMicro: 7_500_000 };
  return answered([
    { ...command, kind: 'PositionMoved', command: 0, action, ...sums } as never as ExecutionEvent,
  ]);
};
