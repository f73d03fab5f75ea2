import { filledText, type Refusal } from './refusals.ts';

/**
 * The second section of the list of refusals: those of reads, which are never on the log and so have no number. Their
 * answers carry the text; the code names a refusal in code and documents only. Where a read refuses with a code of the
 * log, it is that of `refusals`. Texts are matched exactly by published clients (conventions.md 1.2, 3.12 and part 5).
 */
const list = {
  invalid_token: { status: 400, text: 'Invalid token id', retry: false },
  no_book: { status: 404, text: 'No orderbook exists for the requested token id', retry: true },
  invalid_side: { status: 400, text: 'Invalid side', retry: false },
  invalid_body: { status: 400, text: 'Invalid payload', retry: false },
  payload_too_large: { status: 400, text: 'Payload exceeds the limit', retry: false },
  interval_with_range: {
    status: 400,
    text: 'interval cannot be combined with start_ts/end_ts',
    retry: false,
  },
  invalid_moment: { status: 400, text: 'Invalid at or at_offset', retry: false },
  invalid_level: { status: 400, text: 'Invalid level', retry: false },
  unknown_market: { status: 404, text: 'market not found', retry: false },
  unknown_event: { status: 404, text: 'event not found', retry: false },
  unknown_series: { status: 404, text: 'series not found', retry: false },
  unknown_slug: { status: 404, text: 'slug not found', retry: false },
  unknown_id: { status: 404, text: 'id not found', retry: false },
  invalid_id: { status: 400, text: 'id must be an integer', retry: false },
  invalid_market: { status: 400, text: 'Invalid market', retry: false },
  invalid_cursor: { status: 400, text: 'invalid next_cursor', retry: false },
  unknown_order: { status: 404, text: 'order not found', retry: false },
  invalid_order_params: { status: 400, text: 'invalid order params', retry: false },
  invalid_trade_params: { status: 400, text: 'invalid trade params', retry: false },
  foreign_wallet: { status: 400, text: 'wallet is not one of the caller', retry: false },
  invalid_builder_params: { status: 400, text: 'invalid builder trade params', retry: false },
  invalid_builder_code: { status: 400, text: 'invalid builder code', retry: false },
  invalid_address: { status: 400, text: '{name} is not an address', retry: false },
  invalid_parameter: { status: 400, text: 'invalid {name}', retry: false },
  unserved_filter: { status: 400, text: '{name} is not supported here', retry: false },
  missing_parameter: { status: 400, text: '{name} is required', retry: false },
  invalid_field: { status: 400, text: 'invalid_field: {name}', retry: false },
  missing_field: { status: 400, text: 'missing_field: {name}', retry: false },
  unknown_field: { status: 400, text: 'unknown_field: {name}', retry: false },
  unavailable: { status: 503, text: 'temporarily unavailable, try again shortly', retry: true },
  data_unavailable: {
    status: 503,
    text: 'unavailable: temporarily unavailable, try again shortly',
    retry: true,
  },
  read_failed: { status: 500, text: 'internal error', retry: true },
  data_read_failed: { status: 500, text: 'internal_error: unexpected', retry: true },
} as const satisfies Record<string, Refusal>;

export type ReadRefusalCode = keyof typeof list;

export const readRefusals: Readonly<Record<ReadRefusalCode, Refusal>> = list;

export const readRefusalCodes = Object.keys(list) as readonly ReadRefusalCode[];

/** A body or batch that is too large, in both HTTP layers. */
export const payloadTooLarge = list.payload_too_large;

/** The text of a refusal of a read with its facts filled in. */
export function readRefusalText(
  code: ReadRefusalCode,
  facts: Readonly<Record<string, string | number>> = {},
): string {
  return filledText(readRefusals[code].text, facts);
}
