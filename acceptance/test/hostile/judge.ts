import {
  type DeclaredResponse,
  operatorResponsesOf,
  responsesOf,
} from '@pm/schemas/routes/responses';
import { familyMounts, type RouteDeclaration } from '@pm/schemas/routes/route';
import { fits } from '../../../kit/test/hostile/fits.ts';
import type { AnyRoute, HostileRequest } from './hostile-request.ts';

export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
}

const wrongMax = 10;

/** Keeps what was answered otherwise than documented. */
export class Judge {
  readonly statuses = new Map<number, number>();
  readonly wrong: unknown[] = [];
  sent = 0;
  readonly #declared = new Map<AnyRoute, readonly DeclaredResponse[]>();

  judge(request: HostileRequest, caller: string, answer: Answer): void {
    this.count(answer.status);
    const problem = this.#problem(request, answer);
    if (problem === null || this.wrong.length >= wrongMax) return;
    const { method, url, headers, body } = request;
    const sent = { method, url, headers, caller, body: body?.toString('latin1').slice(0, 1_000) };
    this.wrong.push({ problem, sent, ...answer, text: answer.text.slice(0, 500) });
  }

  count(status: number): void {
    this.sent += 1;
    this.statuses.set(status, (this.statuses.get(status) ?? 0) + 1);
  }

  /** Judges the response to bytes that are no request: only its statuses can be wrong. */
  broken(sent: string, statuses: readonly number[]): void {
    for (const status of statuses) this.count(status);
    if (statuses.some((status) => status >= 500 && status !== 503) && this.wrong.length < wrongMax)
      this.wrong.push({ sent, statuses });
  }

  #problem(request: HostileRequest, { status, headers, text }: Answer): string | null {
    if (status >= 500 && (status !== 503 || headers['retry-after'] === undefined))
      return 'a status of 5xx';
    if (request.method === 'HEAD' || status < 200 || (status >= 300 && status < 400)) return null;
    const isJson = String(headers['content-type']).startsWith('application/json');
    if (!isJson) return status >= 400 ? 'an error that is not JSON' : null;
    const body = parsed(text);
    if (body === undefined) return 'a body that is not JSON';
    if (status >= 400 && !isError(body)) return 'an error without its text';
    return request.isRouted ? this.#undeclared(request, status, body) : null;
  }

  #undeclared({ route, url }: HostileRequest, status: number, body: unknown): string | null {
    const declared = this.#responsesOf(route).find((one) => one.status === status);
    if (declared === undefined) return 'a status that is not declared';
    const isMounted = Object.values(familyMounts).some((mount) => url.startsWith(`${mount}/`));
    const schema = isMounted ? (declared.mounted ?? declared.schema) : declared.schema;
    // Under a mount an error has the words of that family, which may not be the first of the route.
    if (schema === undefined || (isMounted && status >= 400)) return null;
    return fits(schema, body) ? null : 'a body that is not the declared one';
  }

  #responsesOf(route: AnyRoute): readonly DeclaredResponse[] {
    const known = this.#declared.get(route);
    if (known !== undefined) return known;
    const all =
      'role' in route ? operatorResponsesOf(route) : responsesOf(route as RouteDeclaration);
    this.#declared.set(route, all);
    return all;
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

/** Cancels and placements that failed have their own body (`errorMsg`), which their declaration describes. */
function isError(body: unknown): boolean {
  if (typeof body !== 'object' || body === null) return false;
  return 'error' in body || 'errorMsg' in body;
}
