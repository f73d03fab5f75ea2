import type { Catalog } from '@pm/domain/markets/catalog';
import type { Market } from '@pm/domain/markets/market';
import { feeRateResponse } from '@pm/domain/markets/market';
import { ReadRefusal, refusals } from '@pm/domain/reading/refusal';
import type { HttpHandler } from '@pm/kit/http';
import { priceOne } from '@pm/schemas/money';
import { readRoute } from '../http/read-route.io.ts';
import { listingIn } from './tokens.ts';

export interface TokenRuleParts {
  readonly catalog: Catalog;
}

/** GET /tick-size and /tick-size/:token_id: the price grid, a JSON number (conventions.md 5.1). */
export function tickSizeRoutes(parts: TokenRuleParts): readonly HttpHandler[] {
  return tokenRuleRoutes(parts, '/tick-size', {
    of: (market) => ({ minimum_tick_size: market.tick / priceOne }),
    byDefault: null,
  });
}

/** GET /neg-risk and /neg-risk/:token_id: which exchange contract orders are signed for (conventions.md 5.1). */
export function negRiskRoutes(parts: TokenRuleParts): readonly HttpHandler[] {
  return tokenRuleRoutes(parts, '/neg-risk', {
    of: (market) => ({ neg_risk: market.negRisk }),
    byDefault: null,
  });
}

/** GET /fee-rate and /fee-rate/:token_id; without a token the default rate (conventions.md 5.1). */
export function feeRateRoutes(parts: TokenRuleParts): readonly HttpHandler[] {
  return tokenRuleRoutes(parts, '/fee-rate', {
    of: feeRateResponse,
    byDefault: feeRateResponse(),
  });
}

/** A rule of a token's market, requested by query and by path: `/tick-size?token_id=1` and `/tick-size/1`. */
function tokenRuleRoutes(
  { catalog }: TokenRuleParts,
  path: string,
  rule: {
    of(market: Market): object;
    /** The answer without a token; null refuses. */
    readonly byDefault: object | null;
  },
): readonly HttpHandler[] {
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
