// The root follows the specification: every field list of it, names and types, compared with real responses.
import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { before, test } from 'node:test';
import { ClobClient, Side } from '@polymarket/clob-client-v2';
import {
  accountAt,
  baseUrl,
  chainId,
  clobUrl,
  eventually,
  marketAt,
  needs,
  walletAt,
} from './exchange.mjs';
import { fields, only, problems } from './shapes.mjs';

const { conditionId, tokenIds } = marketAt(7);
const [yes, no] = tokenIds;

const tag = {
  ...fields('string', 'id label slug'),
  ...fields('date-time', 'createdAt updatedAt'),
  requiresTranslation: 'boolean',
};
const series = {
  ...fields('string', 'id ticker slug title seriesType recurrence image icon'),
  ...fields('boolean', 'active closed archived'),
  ...fields('date-time', 'createdAt updatedAt'),
};
const listedEvent = {
  ...fields('string', 'id ticker slug title description resolutionSource image icon'),
  ...fields('date-time', 'startDate endDate createdAt updatedAt'),
  ...fields('boolean', 'active closed archived'),
};
const eventSummary = { ...listedEvent, creationDate: 'date-time' };
const nestedMarket = {
  ...fields('string', 'id question conditionId slug resolutionSource image icon description'),
  ...fields('string', 'outcomes clobTokenIds questionID'),
  ...fields('date-time', 'startDate endDate createdAt updatedAt'),
  ...fields('boolean', 'active closed archived'),
};
const market = {
  ...nestedMarket,
  ...fields('string', 'mirrorConditionId mirrorClobTokenIds'),
  events: [eventSummary],
};
const reducedMarket = only(
  fields('string', 'id question conditionId mirrorConditionId clobTokenIds mirrorClobTokenIds'),
);
const event = {
  ...eventSummary,
  tags: [tag],
  markets: [nestedMarket],
  series: [series],
  eventMetadata: 'object',
};
const position = {
  ...fields('string', 'proxyWallet asset conditionId oppositeAsset'),
  ...fields('number', 'size avgPrice initialValue currentValue cashPnl percentPnl totalBought'),
  ...fields('number', 'realizedPnl percentRealizedPnl curPrice'),
  ...fields('boolean', 'redeemable mergeable negativeRisk'),
  ...fields('string', 'title slug icon eventSlug outcome oppositeOutcome'),
  ...fields('integer', 'outcomeIndex timestamp'),
  endDate: 'date-time',
};
const holderGroup = {
  token: 'string',
  holders: [
    {
      ...fields('string', 'proxyWallet bio asset pseudonym name profileImage'),
      profileImageOptimized: 'string',
      amount: 'number',
      displayUsernamePublic: 'boolean',
      outcomeIndex: 'integer',
    },
  ],
};
const comment = {
  ...fields('string', 'id body parentEntityType parentCommentID userAddress replyAddress'),
  parentEntityID: 'integer',
  ...fields('date-time', 'createdAt updatedAt'),
  profile: {
    ...fields('string', 'name pseudonym bio proxyWallet baseAddress profileImage'),
    ...fields('boolean', 'displayUsernamePublic isMod isCreator'),
    profileImageOptimized: 'object',
    positions: [fields('string', 'tokenId positionSize')],
  },
  reactions: [fields('string', 'id commentID reactionType icon userAddress')],
  ...fields('integer', 'reportCount reactionCount replyCount'),
  replies: ['object'],
};
const rewards = {
  rates: [{ asset_address: 'string', rewards_daily_rate: 'number' }],
  ...fields('number', 'min_size max_spread'),
};
const samplingMarket = {
  ...fields('boolean', 'enable_order_book active closed archived accepting_orders'),
  ...fields('boolean', 'notifications_enabled neg_risk is_50_50_outcome'),
  ...fields('string', 'accepting_order_timestamp condition_id question_id question description'),
  ...fields('string', 'market_slug end_date_iso game_start_time fpmm neg_risk_market_id'),
  ...fields('string', 'neg_risk_request_id icon image status slug'),
  ...fields('number', 'minimum_order_size minimum_tick_size seconds_delay maker_base_fee'),
  ...fields('number', 'taker_base_fee market_id taker_order_delay_ms order_age_seconds'),
  rewards,
  tokens: [{ ...fields('string', 'token_id outcome'), price: 'number', winner: 'boolean' }],
  tags: ['string'],
  assets_ids: ['string'],
  outcomes: ['string'],
  event: fields('string', 'id slug title ticker description'),
  raw_metadata: 'object',
  ...fields('boolean', 'itode screening_check_enabled'),
};
const simplifiedMarket = {
  ...fields('string', 'condition_id creator mirror_condition_id status question slug'),
  ...fields('boolean', 'neg_risk active closed archived accepting_orders'),
  market_id: 'number',
  tokens: [
    {
      ...fields('string', 'token_id mirror_token_id outcome'),
      price: 'number',
      winner: 'boolean',
    },
  ],
  rewards,
  assets_ids: ['string'],
  outcomes: ['string'],
};
const page = (of) => ({
  data: [of],
  next_cursor: 'string',
  ...fields('number', 'limit count'),
});
const builderTrade = {
  ...fields('string', 'id taker_order_id market asset_id side size fee_rate_bps price outcome'),
  ...fields('string', 'maker_address owner transaction_hash status type'),
  ...fields('date-time', 'match_time last_update'),
  bucket_index: 'integer',
  maker_orders: [
    fields(
      'string',
      'order_id maker_address owner matched_amount fee_rate_bps price asset_id outcome side',
    ),
  ],
};
const storedOrder = {
  order: {
    associateTrades: ['string'],
    ...fields('string', 'id status market originalSize outcome makerAddress owner price'),
    ...fields('string', 'sizeMatched assetId expiration side order_type'),
    createdAt: 'date-time',
  },
};
const level = fields('string', 'price size');
const book = {
  ...fields('string', 'market asset_id timestamp hash min_order_size tick_size last_trade_price'),
  neg_risk: 'boolean',
  bids: [level],
  asks: [level],
};
const feeRate = {
  base_fee: 'number',
  fd: { ...fields('number', 'r e'), to: 'boolean' },
  fee_schedule: {
    ...fields('number', 'rate exponent rebateRate version'),
    takerOnly: 'boolean',
    ...fields('string', 'category source'),
  },
};
const leaderboardEntry = {
  ...fields('string', 'rank proxyWallet userName profileImage'),
  ...fields('number', 'vol pnl'),
  xUsername: 'string or null',
  verifiedBadge: 'boolean or null',
};
const orderResult = {
  success: 'boolean',
  ...fields('string', 'errorMsg orderID takingAmount makingAmount status orderHash'),
};
const searchAnswer = {
  events: [fields('string', 'id ticker slug title')],
  tags: [{ ...fields('string', 'id label slug'), event_count: 'integer' }],
  pagination: { hasMore: 'boolean', totalResults: 'integer' },
};

let signers;
let eventId;
let placed;

async function json(path, options = {}) {
  const answer = await fetch(baseUrl + path, options);
  const body = await answer.json();
  assert.equal(answer.status, 200, `${path}: ${JSON.stringify(body)}`);
  return body;
}

/** A signed request in the specification's own names and milliseconds. */
function signed({ creds, address }, method, path, payload) {
  const timestamp = String(Date.now());
  const body = payload === undefined ? undefined : JSON.stringify(payload);
  const secret = Buffer.from(creds.secret, 'base64');
  const signature = createHmac('sha256', secret)
    .update(timestamp + method + path + (body ?? ''))
    .digest('base64url');
  const headers = {
    'content-type': 'application/json',
    SERVICE_ADDRESS: address,
    SERVICE_API_KEY: creds.key,
    SERVICE_PASSPHRASE: creds.passphrase,
    SERVICE_TIMESTAMP: timestamp,
    SERVICE_SIGNATURE: signature,
  };
  return json(path, { method, headers, body });
}

const builderCode = `0x${'b'.padStart(64, '0')}`;

async function item({ client, creds }, tokenID, price, size = 20) {
  const order = await client.createOrder({ tokenID, side: Side.BUY, price, size, builderCode });
  const { expiration: _unsigned, side, ...rest } = order;
  const sideText = side === 0 || side === Side.BUY ? 'BUY' : 'SELL';
  return { order: { ...rest, side: sideText }, orderType: 'GTC', owner: creds.key };
}

const matches = (answer, shape) => {
  const found = problems(answer, shape);
  assert.deepEqual(found.slice(0, 10), []);
};

/** An empty list would match anything. */
const matchesEach = (answer, shape) => {
  assert.ok(answer.length > 0, 'the list is empty');
  matches(answer, [shape]);
};

before(async () => {
  signers = await Promise.all(
    [0, 1].map(async (index) => {
      const plain = { host: clobUrl, chain: chainId, signer: walletAt(index), throwOnError: true };
      const creds = await new ClobClient(plain).createOrDeriveApiKey();
      const client = new ClobClient({ ...plain, creds });
      return { client, creds, address: accountAt(index).address };
    }),
  );
  eventId = (await json('/events?slug=compat-plain'))[0].id;
  const [maker, taker] = signers;
  await signed(maker, 'POST', '/orders', [
    await item(maker, yes, 0.4),
    await item(maker, yes, 0.3),
  ]);
  placed = await signed(taker, 'POST', '/orders', [
    await item(taker, no, 0.6),
    await item(taker, no, 0.6, 1),
  ]);
});

test('results of orders', () => {
  matchesEach(placed, orderResult);
  matches(placed[1], { code: 'string' });
  assert.deepEqual(
    placed.map(({ success }) => success),
    [true, false],
  );
});

test('stored orders, with their owner shown only to itself', async () => {
  const [, taker] = signers;
  matches(await signed(taker, 'GET', `/data/order/${placed[0].orderID}`), storedOrder);
});

test('cancels of a market', async () => {
  const body = { market: conditionId };
  const answer = await signed(signers[0], 'DELETE', '/cancel-market-orders', body);
  matches(answer, { canceled: ['string'], not_canceled: 'object' });
  assert.ok(answer.canceled.length > 0);
});

test('heartbeats', async () => {
  const beat = await signed(signers[0], 'POST', '/v1/heartbeats', { heartbeat_id: '' });
  matches(beat, { heartbeat_id: 'string' });
});

test('books, prices and last trades', async () => {
  const maker = signers[0];
  await signed(maker, 'POST', '/orders', [await item(maker, yes, 0.2), await item(maker, no, 0.3)]);
  const isWhole = ({ bids, asks }) => bids.length > 0 && asks.length > 0;
  const answer = await eventually('both sides', () => json(`/book?token_id=${yes}`), isWhole);
  matches(answer, book);
  const post = { method: 'POST', headers: { 'content-type': 'application/json' } };
  const body = JSON.stringify([{ token_id: yes }]);
  matchesEach(await json('/books', { ...post, body }), book);
  const prices = await json('/prices', { ...post, body });
  matches(prices[yes], only(fields('string', 'BUY SELL')));
  const last = await json('/last-trades-prices', { ...post, body });
  matchesEach(last, only(fields('string', 'token_id price side')));
  const asked = JSON.stringify({ markets: [yes] });
  const { history } = await json('/batch-prices-history', { ...post, body: asked });
  matches(history[yes], [fields('number', 't p')]);
});

test('fee rates', async () => matches(await json(`/fee-rate/${yes}`), feeRate));

test('markets by slug', async () => matches(await json('/markets/slug/compat-readers'), market));

test('lists of events', async () => {
  const events = await json('/events');
  matchesEach(events, { ...listedEvent, tags: [tag], markets: [reducedMarket] });
  assert.ok(events.every((one) => !('creationDate' in one) && one.markets.length > 0));
});

test('one event', async () => {
  const answer = await json(`/events/${eventId}`);
  matches(answer, event);
  assert.equal(answer.series.length, 1);
});

test('tags and series', async () => {
  matchesEach(await json('/tags'), tag);
  matchesEach(await json('/series'), series);
});

test('search', async () => {
  const answer = await json('/public-search?q=compat');
  matches(answer, searchAnswer);
  assert.ok(answer.events.length > 0 && answer.tags.length > 0);
});

test('sampling markets, whole and simplified', async () => {
  const whole = await json('/sampling-markets?next_cursor=MA==');
  const simple = await json('/sampling-simplified-markets');
  matches(whole, page(samplingMarket));
  matches(simple, page(simplifiedMarket));
  assert.ok(whole.data.length > 0 && simple.data.length > 0);
});

test('markets for agents', async () => {
  matches(await json('/api/v1/markets'), { data: ['object'] });
});

test('positions', async () => {
  const path = `/positions?user=${signers[0].address}&market=${conditionId}`;
  const rows = await eventually(
    'the position',
    () => json(path),
    ({ length }) => length > 0,
  );
  matchesEach(rows, position);
  assert.equal(rows[0].asset, `${conditionId}:0`);
});

test('holders', async () => {
  const groups = await eventually(
    'the holders',
    () => json(`/holders?market=${conditionId}`),
    (rows) => rows.length === 2,
  );
  matchesEach(groups, holderGroup);
});

test('comments', needs('GET /comments', 'POST /comments'), async () => {
  const body = { parent_entity_type: 'Event', parent_entity_id: eventId, body: 'A fair question.' };
  const { id } = await signed(signers[0], 'POST', '/comments', body);
  await signed(signers[1], 'POST', `/comments/${id}/reactions`, {});
  const path = `/comments?parent_entity_type=Event&parent_entity_id=${eventId}`;
  const rows = await eventually(
    'the reaction',
    () => json(path),
    (comments) => comments.some(({ reactions }) => reactions.length > 0),
  );
  matchesEach(rows, comment);
  const own = await json(`/comments/user_address/${signers[0].address}`);
  matchesEach(own, comment);
});

test('builder trades', needs('GET /builder/trades'), async () => {
  const rows = await eventually(
    'the builder trade',
    () => json(`/builder/trades?market=${conditionId}`),
    ({ data }) => data.length > 0,
  );
  matches(rows, page(builderTrade));
});

test('the leaderboard', needs('GET /v1/leaderboard'), async () => {
  const rows = await eventually(
    'the leaderboard',
    () => json('/v1/leaderboard?orderBy=VOL'),
    ({ length }) => length > 0,
  );
  matchesEach(rows, leaderboardEntry);
});

test('errors', async () => {
  const clob = await fetch(`${baseUrl}/book?token_id=1`);
  matches(await clob.json(), { error: 'string' });
  for (const path of ['/public-search', '/events/999999']) {
    matches(await (await fetch(baseUrl + path)).json(), only(fields('string', 'type error')));
  }
});
