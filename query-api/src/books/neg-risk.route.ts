import type { DoorRoute } from '@pm/kit/http';
import type { ReadPorts } from '../door/ports.ts';
import { tokenRuleRoutes } from './token-rules.route.ts';

/** GET /neg-risk and /neg-risk/:token_id: which exchange contract orders are signed for (conventions.md 1.3). */
export function negRiskRoutes(ports: Pick<ReadPorts, 'catalog'>): readonly DoorRoute[] {
  return tokenRuleRoutes(ports, '/neg-risk', {
    of: (market) => ({ neg_risk: market.negRisk }),
    byDefault: null,
  });
}
