/**
 * The closed list of refusals: why a request or an order was not carried out. Codes are part of the API and of the log,
 * are never reused, and new ones go to the end. Texts are matched exactly by published clients (conventions.md 3.7).
 *
 *   status   HTTP status of a single request; inside a batch the item carries the text and the code
 *   retry    whether the very same request can succeed later
 *   final    the matcher remembers it: the same signed order is answered the same way again
 */
export interface Refusal {
  readonly status: number;
  readonly text: string;
  readonly retry: boolean;
  readonly final?: boolean;
}

const list = {
  unknown: { status: 500, text: 'unknown error', retry: true },
  invalid_payload: { status: 400, text: 'Invalid order payload', retry: false },
  too_many_orders: {
    status: 400,
    text: 'Too many orders in payload: {count}, max allowed: {max}',
    retry: false,
  },
  invalid_l1: { status: 401, text: 'Invalid L1 Request headers', retry: false },
  invalid_l2: { status: 401, text: 'Unauthorized/Invalid api key', retry: false },
  owner_mismatch: {
    status: 400,
    text: 'the order owner has to be the owner of the API KEY',
    retry: false,
  },
  signer_mismatch: {
    status: 400,
    text: 'the order signer address has to be the address of the API KEY',
    retry: false,
  },
  invalid_signature: { status: 400, text: 'invalid order signature', retry: false },
  market_not_found: { status: 400, text: 'token is not registered', retry: false },
  condition_mismatch: { status: 400, text: 'condition is not registered', retry: false },
  condition_paused: { status: 409, text: 'condition_paused', retry: true },
  market_not_ready: {
    status: 400,
    text: 'the market is not yet ready to process new orders',
    retry: true,
  },
  market_resolved: {
    status: 400,
    text: 'the market is resolved and takes no orders',
    retry: false,
    final: true,
  },
  invalid_tick_size: {
    status: 400,
    text: 'order {id} is invalid. Price ({price}) breaks minimum tick size rule: {tick}',
    retry: false,
    final: true,
  },
  invalid_size: {
    status: 400,
    text: 'order {id} is invalid. Size ({size}) lower than the minimum: {min}',
    retry: false,
    final: true,
  },
  invalid_amounts: {
    status: 400,
    text: 'order {id} is invalid. Amounts are not whole lots of {lot} shares within the size limit',
    retry: false,
    final: true,
  },
  duplicate: { status: 400, text: 'order {id} is invalid. Duplicated.', retry: false },
  insufficient_balance_or_allowance: {
    status: 400,
    text: 'not enough balance / allowance',
    retry: true,
  },
  invalid_expiration: { status: 400, text: 'invalid expiration', retry: false, final: true },
  stale_order: { status: 400, text: 'order timestamp is too old', retry: false },
  order_version_mismatch: { status: 400, text: 'order_version_mismatch', retry: false },
  invalid_order_type: { status: 400, text: 'invalid order type', retry: false },
  post_only_would_cross: {
    status: 400,
    text: 'invalid post-only order: order crosses book',
    retry: false,
    final: true,
  },
  invalid_post_only_order_type: {
    status: 400,
    text: 'postOnly requires GTC or GTD',
    retry: false,
  },
  fok_not_filled: {
    status: 400,
    text: "order couldn't be fully filled. FOK orders are fully filled or killed.",
    retry: false,
    final: true,
  },
  fak_not_filled: {
    status: 400,
    text: 'no orders found to match with FAK order. FAK orders are partially filled or killed if no match is found.',
    retry: false,
    final: true,
  },
  self_trade: {
    status: 400,
    text: 'order would trade with an order of the same owner',
    retry: false,
    final: true,
  },
  fill_limit: {
    status: 400,
    text: 'order meets more resting orders than one order may',
    retry: false,
    final: true,
  },
  too_many_open_orders: {
    status: 400,
    text: 'too many open orders for this wallet',
    retry: true,
  },
  too_late: {
    status: 400,
    text: 'order reached the book too late and was not placed',
    retry: false,
    final: true,
  },
  old_generation: {
    status: 503,
    text: 'the collateral of this order was reserved before a ledger rebuild',
    retry: true,
  },
  post_only_mode: {
    status: 503,
    text: 'post-only mode: only post-only orders and cancels are allowed',
    retry: true,
  },
  cancel_only: {
    status: 503,
    text: 'Trading is currently cancel-only. New orders are not accepted, but cancels are allowed.',
    retry: true,
  },
  trading_disabled: { status: 503, text: 'Trading is currently disabled', retry: true },
  ledger_not_ready: {
    status: 503,
    text: 'the collateral ledger is being rebuilt, try again shortly',
    retry: true,
  },
  partition_not_ready: {
    status: 425,
    text: 'the matching engine of this market is restarting, try again shortly',
    retry: true,
  },
  overloaded: { status: 503, text: 'too many requests in flight, try again shortly', retry: true },
  internal_error: { status: 500, text: 'could not insert order', retry: true },
  invalid_order_id: { status: 400, text: 'Invalid orderID', retry: false },
  order_not_found: {
    status: 404,
    text: "order can't be found - already canceled or matched",
    retry: false,
  },
  already_matched: { status: 400, text: 'order already matched', retry: false },
  no_cancel_filter: { status: 400, text: 'market or asset_id is required', retry: false },
  rate_limited: { status: 429, text: 'Too Many Requests', retry: true },
  too_many_cancels: {
    status: 400,
    text: 'Too many orders in payload, max allowed: {max}',
    retry: false,
  },
  fenced: {
    status: 400,
    text: 'order was canceled before it reached the book',
    retry: false,
    final: true,
  },
  order_delayed: {
    status: 400,
    text: 'order is delayed and cannot be canceled',
    retry: true,
  },
  system_paused: { status: 409, text: 'system_paused', retry: true },
  timestamp_skew: {
    status: 401,
    text: 'TIMESTAMP_SKEW: the request time is {skew} s off, the server time is {server}',
    retry: true,
  },
  user_banned: { status: 400, text: "'{address}' address banned", retry: false },
  closed_only: { status: 400, text: "'{address}' address in closed only mode", retry: false },
  read_only_key: { status: 403, text: 'this API key may only read', retry: false },
  api_key_not_created: { status: 400, text: 'Could not create api key', retry: false },
  api_key_not_found: { status: 404, text: 'api key not found', retry: false },
  too_many_api_keys: { status: 400, text: 'too many API keys, max allowed: {max}', retry: false },
  unauthorized_agent: { status: 401, text: 'unauthorized', retry: false },
  agent_not_found: { status: 404, text: 'agent not found', retry: false },
  too_many_agents: { status: 400, text: 'too many agents, max allowed: {max}', retry: false },
  invalid_heartbeat: { status: 400, text: 'Invalid Heartbeat ID', retry: true },
  invalid_request: { status: 400, text: 'invalid request: {detail}', retry: false },
  idempotency_key_invalid: {
    status: 400,
    text: 'Idempotency-Key must be 1 to {max} visible ASCII characters',
    retry: false,
  },
  idempotency_key_reused: {
    status: 422,
    text: 'Idempotency-Key was used with another request',
    retry: false,
  },
  idempotency_in_progress: {
    status: 503,
    text: 'the first request with this Idempotency-Key is still running',
    retry: true,
  },
  insufficient_position: {
    status: 400,
    text: 'insufficient unlocked position',
    retry: true,
  },
  market_not_resolved: { status: 400, text: 'the market is not resolved yet', retry: true },
  already_done: { status: 400, text: 'this request was carried out before', retry: false },
  invalid_asset_type: { status: 400, text: 'Invalid asset type', retry: false },
  invalid_signature_type: { status: 400, text: 'Invalid signature_type', retry: false },
  comment_not_found: { status: 404, text: 'comment not found', retry: false },
  invalid_comment: { status: 400, text: 'invalid comment: {detail}', retry: false },
  not_the_author: { status: 403, text: 'only its author may change it', retry: false },
  invalid_profile: { status: 400, text: 'invalid profile: {detail}', retry: false },
  cancel_unconfirmed: { status: 503, text: 'order could not be cancelled', retry: true },
  action_unconfirmed: {
    status: 503,
    text: 'the request is not confirmed yet, send it again with the same id',
    retry: true,
  },
  retries_unavailable: {
    status: 503,
    text: 'the memory of retry keys is away or full, try again shortly',
    retry: true,
  },
  too_many_retry_keys: {
    status: 429,
    text: 'the retry keys of this wallet within the hour are too many or too long',
    retry: true,
  },
  too_many_wallets: {
    status: 400,
    text: 'too many contract wallets claimed by this address, max allowed: {max}',
    retry: false,
  },
  session_ending: {
    status: 503,
    text: 'the orders of the missed session are being canceled, try again shortly',
    retry: true,
  },
  request_id_required: {
    status: 400,
    text: 'this request moves money and needs an id: in the body, or as Idempotency-Key covered by the signature',
    retry: false,
  },
  withdrawals_frozen: {
    status: 403,
    text: 'withdrawals of this wallet are frozen until the operator clears them',
    retry: true,
  },
  wallet_reserved: {
    status: 403,
    text: 'the address is reserved and can have no keys',
    retry: false,
  },
  request_repeated: {
    status: 409,
    text: 'this signed request was used before, sign it again with the present time',
    retry: false,
  },
  proofs_unavailable: {
    status: 503,
    text: 'the memory of used proofs is away or full, try again shortly',
    retry: true,
  },
  other_signing_domain: {
    status: 400,
    text: 'signed for the domain of another exchange, see GET /signing-domain',
    retry: false,
  },
  deposit_required: {
    status: 403,
    text: 'the exchange keeps no more of these for wallets without money, deposit {amount} USDC first',
    retry: true,
  },
  order_unconfirmed: {
    status: 503,
    text: 'the order is not confirmed yet: send the same signed order again, or ask GET /data/order/{id}',
    retry: true,
  },
  order_signed_ahead: {
    status: 400,
    text: 'order timestamp is too far ahead: {ahead} s, the server time is {server}',
    retry: false,
  },
  argument_not_signed: {
    status: 400,
    text: 'the signature does not cover {name} in the query: put it into the body, or sign the path with its query',
    retry: false,
  },
  order_unknown: {
    status: 404,
    text: "order can't be found - not seen yet, and refused if it still arrives",
    retry: false,
  },
  log_unavailable: {
    status: 503,
    text: 'the log of the exchange cannot be reached for the moment, try again shortly',
    retry: true,
  },
  catalog_full: {
    status: 409,
    text: 'the catalog has {markets} markets, and {more} more would pass the {max} of PM_MARKETS_MAX',
    retry: true,
  },
} as const satisfies Record<string, Refusal>;

export type RefusalCode = keyof typeof list;

export const refusals: Readonly<Record<RefusalCode, Refusal>> = list;

/** In the order of their numbers on the log. */
export const refusalCodes = Object.keys(list) as readonly RefusalCode[];

/** The text of a refusal with its facts filled in: `{min}` becomes `facts.min`. */
export function refusalText(
  code: RefusalCode,
  facts: Readonly<Record<string, string | number>> = {},
): string {
  return filledText(refusals[code].text, facts);
}

/** A text with `{name}` replaced by `facts.name`; what has no fact stays. */
export function filledText(text: string, facts: Readonly<Record<string, string | number>>): string {
  return text.replace(/\{(\w+)\}/g, (whole, name: string) => String(facts[name] ?? whole));
}

/**
 * Refusals of an order that is not decided by them, so that its idempotency key stays free:
 *
 *   unsent    the order could not be brought to its partition
 *   closed    its market, or the exchange, takes no orders now, or none of this kind from this wallet
 *   limited   its market, or the exchange, takes fewer kinds of orders now
 */
const outages: Readonly<Partial<Record<RefusalCode, 'unsent' | 'closed' | 'limited'>>> = {
  partition_not_ready: 'unsent',
  ledger_not_ready: 'unsent',
  overloaded: 'unsent',
  system_paused: 'closed',
  condition_paused: 'closed',
  cancel_only: 'closed',
  trading_disabled: 'closed',
  rate_limited: 'closed',
  post_only_mode: 'limited',
};

/** Undefined for refusals that decide the order. */
export function outageOf(code: RefusalCode): 'unsent' | 'closed' | 'limited' | undefined {
  return outages[code];
}

/** Codes after which the very same request can succeed later. */
type RetryCode = {
  [Code in keyof typeof list]: (typeof list)[Code]['retry'] extends true ? Code : never;
}[keyof typeof list];

/**
 * How the same request can succeed later, for each refusal with `retry`, and what the refused one may have done:
 *
 *   unchanged   waiting helps; the refused request changed nothing
 *   unknown     waiting helps; the refused request may be carried out, or may be yet
 *   act         somebody has to act first: a deposit, a resolution, an operator
 */
const retries: Readonly<Record<RetryCode, 'unchanged' | 'unknown' | 'act'>> = {
  unknown: 'unknown',
  condition_paused: 'act',
  market_not_ready: 'act',
  insufficient_balance_or_allowance: 'act',
  too_many_open_orders: 'act',
  old_generation: 'unchanged',
  post_only_mode: 'act',
  cancel_only: 'act',
  trading_disabled: 'act',
  ledger_not_ready: 'unchanged',
  partition_not_ready: 'unchanged',
  overloaded: 'unchanged',
  internal_error: 'unknown',
  rate_limited: 'unchanged',
  order_delayed: 'act',
  system_paused: 'act',
  timestamp_skew: 'unchanged',
  invalid_heartbeat: 'act',
  idempotency_in_progress: 'unknown',
  insufficient_position: 'act',
  market_not_resolved: 'act',
  cancel_unconfirmed: 'unknown',
  action_unconfirmed: 'unknown',
  retries_unavailable: 'unchanged',
  too_many_retry_keys: 'unchanged',
  session_ending: 'unchanged',
  withdrawals_frozen: 'act',
  proofs_unavailable: 'unchanged',
  deposit_required: 'act',
  order_unconfirmed: 'unknown',
  log_unavailable: 'unknown',
  catalog_full: 'act',
};

/** Undefined for refusals without `retry`. */
export function retryOf(code: RefusalCode): 'unchanged' | 'unknown' | 'act' | undefined {
  return code in retries ? retries[code as RetryCode] : undefined;
}
