// polymarket-gamma, a reader of the catalog.
import './extensionless.mjs';
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { authorIndex, writeComments } from './comments.mjs';
import { accountAt, eventCount, gammaUrl, marketCount, needs } from './exchange.mjs';

const { PolymarketGammaClient } = await import('polymarket-gamma');
const gamma = new PolymarketGammaClient({ baseUrl: gammaUrl });

test('reads markets and events as lists, by id, by slug and by page', async () => {
  const markets = await gamma.getMarkets({ limit: 100 });
  assert.equal(markets.length, marketCount);
  assert.equal(markets[0].outcomes.length, 2);
  assert.equal(markets[0].clobTokenIds.length, 2);
  const market = await gamma.getMarket('compat-readers');
  assert.equal((await gamma.getMarket(market.id)).slug, 'compat-readers');
  assert.ok(Array.isArray(await gamma.getMarketTags(market.id)));
  const events = await gamma.getEvents({ limit: 10, closed: false });
  assert.equal(events.length, eventCount);
  const event = await gamma.getEvent('compat-plain');
  assert.equal((await gamma.getEvent(event.id)).markets.length, 5);
  assert.ok((await gamma.getEventTags(event.id)).length >= 2);
  const { data, pagination } = await gamma.getEventsPaginated({ limit: 2 });
  assert.equal(data.length, 2);
  assert.deepEqual(pagination, { hasMore: true, totalResults: eventCount });
});

test('searches', async () => {
  const found = await gamma.search({ q: 'compat', limit_per_type: 2 });
  assert.equal(found.events.length, 2);
  assert.equal(found.pagination.totalResults, eventCount);
});

test('reads tags, series, teams and sports', async () => {
  const tags = await gamma.getTags({ limit: 100 });
  assert.ok(tags.length >= 4);
  assert.equal((await gamma.getTag('compat')).slug, 'compat');
  const [{ id }] = tags;
  assert.equal((await gamma.getTag(id)).id, id);
  assert.ok(Array.isArray(await gamma.getRelatedTags(id)));
  assert.ok(Array.isArray(await gamma.getRelatedTagsTags(id)));
  const [series] = await gamma.getSeries({ limit: 10 });
  assert.equal((await gamma.getSeriesById(series.id)).slug, 'compat-weekly');
  assert.deepEqual(await gamma.getTeams(), []);
  assert.deepEqual(await gamma.getSports(), []);
});

test('reads comments', needs('GET /comments'), async () => {
  const [asked] = await writeComments('compat-plain');
  const [comment] = await gamma.getComments(asked);
  assert.equal(typeof comment.reactions[0].commentID, 'number');
  const own = await gamma.getCommentsByUser(accountAt(authorIndex).address);
  assert.ok(own.some(({ id }) => id === comment.id));
});
