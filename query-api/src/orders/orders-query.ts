import { type AskedAsset, parseAsset, parseConditionId, parseOrderId } from '@pm/schemas';
import { parseCursor } from '../door/paging.ts';
import { QueryReader, type RawQuery } from '../door/query-reader.ts';
import { type ReadRefusal, refusals } from '../door/refusal.ts';

/** Orders of a page. */
export const ordersPageSize = 100;

export interface OrdersQuery {
  readonly orderId: string | null;
  readonly condition: string | null;
  readonly asset: AskedAsset | null;
  /** -1 after the last page. */
  readonly offset: number;
}

const textMaxChars = 80;

/** The parameters of GET /data/orders, or why not. Nothing of an unknown parameter (conventions.md 1.0). */
export function readOrdersQuery(query: RawQuery): OrdersQuery | ReadRefusal {
  const read = new QueryReader(query, 'clob');
  const parsed = <T>(name: string, parse: (text: string) => T | null): T | null => {
    const text = read.text(name, textMaxChars);
    return text === null ? null : (parse(text) ?? read.fail(refusals.invalidOrderParams.text));
  };
  const found = {
    orderId: parsed('id', parseOrderId),
    condition: parsed('market', parseConditionId),
    asset: parsed('asset_id', parseAsset),
  };
  if (read.refusal !== null) return refusals.invalidOrderParams;
  const offset = parseCursor(read.text('next_cursor'));
  if (offset === null || read.refusal !== null) return refusals.invalidCursor;
  return { ...found, offset };
}
