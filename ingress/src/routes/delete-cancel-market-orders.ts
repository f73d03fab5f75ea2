import type { DoorRoute } from '@pm/kit/http';
import {
  type AskedAsset,
  type CancelMarketBody,
  type ConditionId,
  parseAsset,
  parseConditionId,
} from '@pm/schemas';
import type { ListedToken } from '../core/listed-token.ts';
import { cancelRoute } from './cancel-route.ts';
import { type Canceler, type Cancellation, cancelMarket } from './cancel-runner.ts';
import type { DoorPorts, MarketDirectory } from './ports.ts';
import { singleBodyMaxBytes } from './route.ts';

const nothing: Cancellation = { result: { canceled: [], not_canceled: {} }, failure: null };

/**
 * DELETE /cancel-market-orders: all orders of the caller in a market or of a token. The filter comes in the body, or in the
 * query when the body was lost on the way; the key that is not used may be an empty text (conventions.md 1.6, part 9).
 */
export function cancelMarketOrdersRoute(
  ports: DoorPorts,
  isBody: (value: unknown) => value is CancelMarketBody,
): DoorRoute {
  return cancelRoute(ports, {
    path: '/cancel-market-orders',
    bodyLimit: singleBodyMaxBytes,
    read({ body, query }) {
      const asked: unknown = body ?? query;
      const filter = isBody(asked) ? readFilter(asked, ports.markets) : 'invalid_payload';
      if (typeof filter === 'string') return filter;
      return (canceler) => cancelFiltered(filter, canceler, ports);
    },
  });
}

async function cancelFiltered(
  filter: Filter | null,
  canceler: Canceler,
  ports: DoorPorts,
): Promise<Cancellation> {
  return filter === null ? nothing : await cancelMarket(filter, canceler, ports);
}

type FilterRefusal = 'no_cancel_filter' | 'invalid_payload' | 'condition_mismatch';
type Filter = { readonly token: ListedToken; readonly outcome: number };

/** The market and token meant; null when nothing of that name is listed, so that nothing can rest there. */
function readFilter(
  body: CancelMarketBody,
  markets: MarketDirectory,
): Filter | FilterRefusal | null {
  const market = body.market ?? '';
  const asset = body.asset_id || (body.assetId ?? '');
  if (market === '' && asset === '') return 'no_cancel_filter';
  const conditionId = parseConditionId(market);
  if (market !== '' && conditionId === null) return 'invalid_payload';
  if (asset !== '') return assetFilter(parseAsset(asset), conditionId, markets);
  const token = conditionId === null ? undefined : markets.findCondition(conditionId);
  return token === undefined ? null : { token, outcome: -1 };
}

/** One token, which must belong to the condition when that is named too. */
function assetFilter(
  asset: AskedAsset | null,
  conditionId: ConditionId | null,
  markets: MarketDirectory,
): Filter | FilterRefusal | null {
  if (asset === null) return 'invalid_payload';
  const isIndexed = 'condition' in asset;
  const token = isIndexed ? markets.findCondition(asset.condition) : markets.findToken(asset.token);
  if (token === undefined) return null;
  if (conditionId !== null && conditionId !== token.conditionId) return 'condition_mismatch';
  return { token, outcome: isIndexed ? asset.outcome : token.outcome };
}
