import type { DoorRoute } from '@pm/kit/http';
import type { ReadPorts } from '../door/ports.ts';
import { feeRateAnswer } from '../markets/fee-rate.ts';
import { tokenRuleRoutes } from './token-rules.route.ts';

/** GET /fee-rate and /fee-rate/:token_id; without a token the default rate (conventions.md 1.3). */
export function feeRateRoutes(ports: Pick<ReadPorts, 'catalog'>): readonly DoorRoute[] {
  return tokenRuleRoutes(ports, '/fee-rate', {
    of: feeRateAnswer,
    byDefault: feeRateAnswer(),
  });
}
