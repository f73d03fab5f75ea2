import { catalogErrorType } from '@pm/schemas/error-words';
import { type ReadRefusalCode, readRefusals, readRefusalText } from '@pm/schemas/read-refusals';
import { refusals as logRefusals, type RefusalCode } from '@pm/schemas/refusals';
import type { RouteFamily } from '@pm/schemas/routes/route';

/** Why a read was refused; texts and statuses are those of the lists in `schemas`. */
export class ReadRefusal {
  readonly status: number;
  readonly text: string;
  /** Facts beside the text, in bodies of the family clob. */
  readonly facts: Readonly<Record<string, string | number>>;
  /** The family whose error format is used, where a path has the forms of two families; null: those of the route. */
  readonly family: RouteFamily | null;

  constructor(
    status: number,
    text: string,
    facts: ReadRefusal['facts'] = {},
    family: RouteFamily | null = null,
  ) {
    this.status = status;
    this.text = text;
    this.facts = facts;
    this.family = family;
  }

  /** This refusal in the error format of the given family. */
  as(family: RouteFamily): ReadRefusal {
    return new ReadRefusal(this.status, this.text, this.facts, family);
  }
}

/** A refusal of the list of reads, with the facts of its text filled in. */
export function refusedRead(
  code: ReadRefusalCode,
  facts: Readonly<Record<string, string>> = {},
): ReadRefusal {
  return new ReadRefusal(readRefusals[code].status, readRefusalText(code, facts));
}

/** A refusal of the list of the log, whose code is in the body. */
function refusedWithCode(code: RefusalCode): ReadRefusal {
  const { status, text } = logRefusals[code];
  return new ReadRefusal(status, text, { code });
}

function refusedAsOnLog(code: RefusalCode): ReadRefusal {
  const { status, text } = logRefusals[code];
  return new ReadRefusal(status, text);
}

export const refusals = {
  invalidToken: refusedRead('invalid_token'),
  noBook: refusedRead('no_book'),
  invalidSide: refusedRead('invalid_side'),
  invalidPayload: refusedRead('invalid_body'),
  payloadTooLarge: refusedRead('payload_too_large'),
  intervalWithRange: refusedRead('interval_with_range'),
  invalidMoment: refusedRead('invalid_moment'),
  invalidLevel: refusedRead('invalid_level'),
  marketNotFound: refusedRead('unknown_market'),
  eventNotFound: refusedRead('unknown_event'),
  seriesNotFound: refusedRead('unknown_series'),
  commentNotFound: refusedAsOnLog('comment_not_found'),
  invalidCursor: refusedRead('invalid_cursor'),
  invalidOrderId: refusedAsOnLog('invalid_order_id'),
  orderNotFound: refusedRead('unknown_order'),
  unauthorized: refusedWithCode('invalid_l2'),
  invalidOrderParams: refusedRead('invalid_order_params'),
  invalidAssetType: refusedWithCode('invalid_asset_type'),
  invalidSignatureType: refusedWithCode('invalid_signature_type'),
  foreignWallet: refusedRead('foreign_wallet'),
  invalidTradeParams: refusedRead('invalid_trade_params'),
  invalidBuilderParams: refusedRead('invalid_builder_params'),
  invalidBuilderCode: refusedRead('invalid_builder_code'),
  slugNotFound: refusedRead('unknown_slug'),
  idNotFound: refusedRead('unknown_id'),
  invalidId: refusedRead('invalid_id'),
  invalidMarket: refusedRead('invalid_market'),
} as const;

/** The body a family gives a refusal. */
export function refusalBody(family: RouteFamily, refusal: ReadRefusal): object {
  if ((refusal.family ?? family) === 'gamma')
    return { type: catalogErrorType(refusal.status), error: refusal.text };
  return { error: refusal.text, ...refusal.facts };
}

/** A store is away for now: an empty answer would be wrong. */
export function unavailable(family: RouteFamily): ReadRefusal {
  return refusedRead(family === 'data' ? 'data_unavailable' : 'unavailable');
}

export function internalError(family: RouteFamily): ReadRefusal {
  return refusedRead(family === 'data' ? 'data_read_failed' : 'read_failed');
}
