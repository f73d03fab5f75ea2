import { catalogErrorType, dataErrorClass } from '@pm/schemas/error-words';
import { type HttpRoute, type RouteFamily, urlsOf } from '@pm/schemas/routes/route';
import { routes } from '@pm/schemas/routes/routes';

/**
 * The family of each beginning of a public URL, up to and with its first parameter, which is `:` whatever its name; of
 * a shared one, the first in the table.
 */
const familiesByBeginning: ReadonlyMap<string, RouteFamily> = beginnings();

function beginnings(): ReadonlyMap<string, RouteFamily> {
  const families = new Map<string, RouteFamily>();
  for (const route of routes as readonly HttpRoute[]) {
    for (const { url, mount } of urlsOf(route)) {
      for (const name of namedBeginnings(url)) {
        if (!families.has(name)) families.set(name, mount ?? route.family);
      }
    }
  }
  return families;
}

/** `/a`, `/a/b`, `/a/b/:` of `/a/b/:c/d`. */
function* namedBeginnings(url: string): Generator<string> {
  for (const beginning of beginningsOf(url)) {
    const [fixed = '', parameter] = beginning.split(':', 2);
    yield parameter === undefined ? fixed : `${fixed}:`;
    if (parameter !== undefined) return;
  }
}

/** `/a`, `/a/b`, `/a/b/c` of `/a/b/c`. */
function* beginningsOf(path: string): Generator<string> {
  for (let end = 0; end !== -1; ) {
    end = path.indexOf('/', end + 1);
    yield end === -1 ? path : path.slice(0, end);
  }
}

/** The family that a path belongs to as far as the table of routes knows its beginning; clob beyond. */
export function familyOfTarget(target: string): RouteFamily {
  const [path = ''] = originForm(target).split(/[?#]/, 1);
  let family: RouteFamily = 'clob';
  let parent = '';
  for (const beginning of beginningsOf(path)) {
    const known = familiesByBeginning.get(beginning);
    if (known === undefined) return familiesByBeginning.get(`${parent}/:`) ?? family;
    family = known;
    parent = beginning;
  }
  return family;
}

const absoluteForm = /^https?:\/\/[^/?#]+/i;

/** The request target without the host, also when the client sent it in the form for proxies (RFC 9112 3.2.2). */
export function originForm(target: string): string {
  if (!absoluteForm.test(target)) return target;
  const rest = target.replace(absoluteForm, '');
  return rest.startsWith('/') ? rest : `/${rest}`;
}

/** The body of an error in the format of a family (conventions.md 1.2). */
export function errorStyleOf(
  family: RouteFamily,
  status: number,
  body: { readonly error: string },
): object {
  if (family === 'gamma') return { type: catalogErrorType(status), ...body };
  if (family === 'data') return { ...body, error: `${dataErrorClass(status)}: ${body.error}` };
  return body;
}
