import { Type } from 'typebox';

/** The number of a market in a path. */
export const MarketId = Type.Object({ id: Type.String({ pattern: '^[1-9][0-9]{0,9}$' }) });
