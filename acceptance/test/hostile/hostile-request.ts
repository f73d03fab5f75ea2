import {
  familyMounts,
  type HttpRoute,
  type OperatorRouteDeclaration,
  type RouteDeclaration,
} from '@pm/schemas/routes/route';
import { operatorRoutes, routes } from '@pm/schemas/routes/routes';
import type { Dice } from '../../../kit/test/hostile/dice.ts';
import {
  hostileNames,
  hostileTexts,
  hostileValue,
} from '../../../kit/test/hostile/hostile-values.ts';
import { schemaValue } from '../../../kit/test/hostile/schema-value.ts';
import { spoil, spoilBytes } from '../../../kit/test/hostile/spoil.ts';

export type AnyRoute = RouteDeclaration | OperatorRouteDeclaration;

export const publicRoutes: readonly RouteDeclaration[] = routes;
export const ofOperator: readonly AnyRoute[] = Object.values(operatorRoutes);

/** A request as it goes over the wire, before its credentials. */
export interface HostileRequest {
  readonly route: AnyRoute;
  readonly method: string;
  readonly url: string;
  readonly body: Buffer | null;
  readonly headers: Readonly<Record<string, string>>;
  /** Sent to this route, by its method and with a path that can be decoded. */
  readonly isRouted: boolean;
}

const methods = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'PROPFIND', 'PURGE'];
const undecodable = ['%ff%', '%', '%zz', '%c0%ae', '/../..', '//', ';a=b'];

/** A request to the route that is wrong in one part or in a few, or in none. `known` are texts that name something. */
export function hostileRequest(
  route: AnyRoute,
  known: readonly string[],
  dice: Dice,
): HostileRequest {
  const method = dice.isOneIn(40) ? dice.pick(methods) : route.method;
  const isBroken = dice.isOneIn(60);
  const path = `${mountOf(route, dice)}${pathOf(route, known, dice)}`;
  const url = `${path}${isBroken ? dice.pick(undecodable) : ''}${queryOf(route, known, dice)}`;
  const body = ['GET', 'HEAD'].includes(method) ? null : bodyOf(route, dice);
  const headers = { ...typeOf(body, dice), ...extraHeaders(dice) };
  return { route, method, url, body, headers, isRouted: method === route.method && !isBroken };
}

function mountOf(route: AnyRoute, dice: Dice): string {
  if (!('service' in route) || !dice.isOneIn(5)) return '';
  const { family, mounts = [family], atRoot }: HttpRoute = route;
  return mounts.length === 0 || atRoot === false ? '' : familyMounts[dice.pick(mounts)];
}

function pathOf(route: AnyRoute, known: readonly string[], dice: Dice): string {
  const [example] = route.examples;
  return route.path.replace(/:(\w+)/g, (_, name: string) => {
    const usual = example.params?.[name] ?? '1';
    const text = dice.isOneIn(2) ? usual : textOf(known, dice).slice(0, dice.pick([5, 80, 600]));
    return escaped(text) || 'x';
  });
}

function queryOf(route: AnyRoute, known: readonly string[], dice: Dice): string {
  const declared = Object.keys(
    (route.query as { properties?: object } | undefined)?.properties ?? {},
  );
  if (dice.isOneIn(3)) return '';
  const pairs = Array.from({ length: dice.below(5) }, () => {
    const isKnown = declared.length > 0 && !dice.isOneIn(5);
    const name = dice.pick(isKnown ? declared : hostileNames);
    const broken = dice.isOneIn(25) ? dice.pick(['%', '%zz', '%ff', '%00', '+', '=&=']) : null;
    const pair = `${escaped(name)}=${broken ?? escaped(textOf(known, dice))}`;
    return dice.isOneIn(8) ? `${pair}&${pair}` : pair;
  });
  return pairs.length === 0 ? '' : `?${pairs.join('&')}`;
}

/** As a careful client would write it; half a surrogate pair has no UTF-8. */
function escaped(text: string): string {
  return encodeURIComponent(text.replace(/[\ud800-\udfff]/gu, '\ufffd'));
}

function textOf(known: readonly string[], dice: Dice): string {
  return dice.pick(dice.isOneIn(2) ? known : hostileTexts);
}

function bodyOf(route: AnyRoute, dice: Dice): Buffer | null {
  if (dice.isOneIn(12)) return null;
  const [example] = route.examples;
  const value =
    route.body === undefined || dice.isOneIn(6)
      ? hostileValue(dice)
      : dice.isOneIn(2)
        ? example.body
        : schemaValue(route.body, dice);
  const kind = dice.below(6);
  const json = JSON.stringify(value) ?? 'null';
  if (kind === 0) return Buffer.from(json);
  if (kind > 3) return spoilBytes(json, dice);
  let spoiled = value;
  for (let times = 0; times < kind; times += 1) spoiled = spoil(spoiled, dice);
  return Buffer.from(JSON.stringify(spoiled) ?? '');
}

const contentTypes = [
  ...['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data; boundary=x', ''],
  ...['application/json; charset=utf-16', 'application/json;', '*/*', '/', 'x'.repeat(500)],
];

function typeOf(body: Buffer | null, dice: Dice): Record<string, string> {
  if (body === null && dice.isOneIn(2)) return {};
  return { 'content-type': dice.isOneIn(15) ? dice.pick(contentTypes) : 'application/json' };
}

const extraNames = [
  ...['idempotency-key', 'x-request-id', 'accept', 'content-encoding', 'x-forwarded-for'],
  ...['cookie', 'accept-encoding', 'origin', '__proto__', 'range', 'if-none-match', 'te'],
];

function extraHeaders(dice: Dice): Record<string, string> {
  if (!dice.isOneIn(4)) return {};
  const value = dice.pick([`key-${dice.below(50)}`, '100', 'gzip', 'a, b', 'x'.repeat(2_000), '']);
  return { [dice.pick(extraNames)]: value };
}
