import { catalogErrorType, payloadTooLarge, type RouteFamily } from '@pm/schemas';

/** Why a read was not answered. The texts are those that published clients know (conventions.md 1.0 and 1.3 to 1.6). */
export class ReadRefusal {
  readonly status: number;
  readonly text: string;
  /** Facts beside the text, in bodies of the family clob. */
  readonly facts: Readonly<Record<string, string | number>>;
  /** Whose words it is in, where a path has the forms of two families; null: those of the route. */
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

  /** The same in the words of a family. */
  as(family: RouteFamily): ReadRefusal {
    return new ReadRefusal(this.status, this.text, this.facts, family);
  }
}

const refused = (status: number, text: string) => new ReadRefusal(status, text);

export const refusals = {
  invalidToken: refused(400, 'Invalid token id'),
  noBook: refused(404, 'No orderbook exists for the requested token id'),
  invalidSide: refused(400, 'Invalid side'),
  invalidPayload: refused(400, 'Invalid payload'),
  payloadTooLarge: refused(payloadTooLarge.status, payloadTooLarge.text),
  intervalWithRange: refused(400, 'interval cannot be combined with start_ts/end_ts'),
  invalidMoment: refused(400, 'Invalid at or at_offset'),
  invalidLevel: refused(400, 'Invalid level'),
  marketNotFound: refused(404, 'market not found'),
  invalidCursor: refused(400, 'invalid next_cursor'),
  invalidOrderId: refused(400, 'Invalid orderID'),
  orderNotFound: refused(404, 'order not found'),
  unauthorized: new ReadRefusal(401, 'Unauthorized/Invalid api key', { code: 'invalid_l2' }),
  invalidOrderParams: refused(400, 'invalid order params'),
  invalidAssetType: new ReadRefusal(400, 'Invalid asset type', { code: 'invalid_asset_type' }),
  invalidSignatureType: new ReadRefusal(400, 'Invalid signature_type', {
    code: 'invalid_signature_type',
  }),
  foreignWallet: refused(400, 'wallet is not one of the caller'),
  invalidTradeParams: refused(400, 'invalid trade params'),
  invalidBuilderParams: refused(400, 'invalid builder trade params'),
  invalidBuilderCode: refused(400, 'invalid builder code'),
  slugNotFound: refused(404, 'slug not found'),
  idNotFound: refused(404, 'id not found'),
  invalidId: refused(400, 'id must be an integer'),
  invalidMarket: refused(400, 'Invalid market'),
} as const;

/** The body a family gives a refusal. */
export function refusalBody(family: RouteFamily, refusal: ReadRefusal): object {
  if ((refusal.family ?? family) === 'gamma')
    return { type: catalogErrorType(refusal.status), error: refusal.text };
  return { error: refusal.text, ...refusal.facts };
}

/** What says that a store is away: it passes, and an empty answer would be a lie. */
export function unavailable(family: RouteFamily): ReadRefusal {
  const text = 'temporarily unavailable, try again shortly';
  return refused(503, family === 'data' ? `unavailable: ${text}` : text);
}

export function internalError(family: RouteFamily): ReadRefusal {
  return refused(500, family === 'data' ? 'internal_error: unexpected' : 'internal error');
}
