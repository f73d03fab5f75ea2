import type { DoorRoute } from '@pm/kit/http';
import type { ReadPorts } from '../door/ports.ts';
import { readRoute } from '../door/read-route.io.ts';
import { ReadRefusal, refusals } from '../door/refusal.ts';
import type { Market } from '../markets/catalog.ts';
import { listingIn } from './tokens.ts';

/** A rule of a token's market, asked by query and by path: `/tick-size?token_id=1` and `/tick-size/1`. */
export function tokenRuleRoutes(
  { catalog }: Pick<ReadPorts, 'catalog'>,
  path: string,
  rule: {
    of(market: Market): object;
    /** The answer without a token; null refuses. */
    readonly byDefault: object | null;
  },
): readonly DoorRoute[] {
  const answerFor = (token: string | readonly string[] | undefined) => {
    const listing = listingIn(catalog, token, refusals.marketNotFound);
    return listing instanceof ReadRefusal ? listing : rule.of(listing.market);
  };
  return [
    readRoute({ method: 'GET', path, family: 'clob' }, ({ query }) => {
      const token = query['token_id'];
      if (token === undefined || token === '') return rule.byDefault ?? refusals.invalidToken;
      return answerFor(token);
    }),
    readRoute({ method: 'GET', path: `${path}/:token_id`, family: 'clob' }, ({ params }) =>
      answerFor(params['token_id']),
    ),
  ];
}
