import type { DoorRoute } from '@pm/kit/http';
import { priceOne } from '@pm/schemas';
import type { ReadPorts } from '../door/ports.ts';
import { tokenRuleRoutes } from './token-rules.route.ts';

/** GET /tick-size and /tick-size/:token_id: the price grid, a JSON number (conventions.md 1.3). */
export function tickSizeRoutes(ports: Pick<ReadPorts, 'catalog'>): readonly DoorRoute[] {
  return tokenRuleRoutes(ports, '/tick-size', {
    of: (market) => ({ minimum_tick_size: market.tick / priceOne }),
    byDefault: null,
  });
}
