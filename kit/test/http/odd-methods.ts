import { type HttpRoute, urlsOf } from '@pm/schemas/routes/route';
import type { InjectOptions } from 'fastify';
import type { HttpApp } from '../../src/http/app.io.ts';

const methods = ['HEAD', 'OPTIONS', 'GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'TRACE', 'PROPFIND'];

/**
 * Wrong responses of an app when each of its routes is called by every method, without a body: `[]` if there are none.
 */
export async function wrongResponsesToMethods(
  app: HttpApp,
  routes: readonly HttpRoute[],
): Promise<readonly string[]> {
  const wrong: string[] = [];
  const urls = new Set(routes.flatMap(urlsOf).map(({ url }) => url.replaceAll(/:\w+/g, '0x7f')));
  for (const url of urls) {
    for (const name of methods) {
      const method = name as InjectOptions['method'] & string;
      const { statusCode, headers } = await app.inject({ method, url });
      const isNamed = headers.allow !== undefined;
      const isRight = statusCode < 500 && isNamed === (statusCode === 405 || name === 'OPTIONS');
      if (!isRight) wrong.push(`${method} ${url}: ${statusCode}`);
    }
  }
  return wrong;
}
