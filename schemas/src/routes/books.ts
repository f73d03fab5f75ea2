import type { HttpRoute } from './route.ts';

/** Books, prices and their history (conventions.md 1.3 and 1.4). */
export const booksRoutes = [
  { method: 'GET', path: '/book', door: 'query-api', family: 'clob' },
  { method: 'POST', path: '/books', door: 'query-api', family: 'clob' },
  { method: 'GET', path: '/price', door: 'query-api', family: 'clob' },
  { method: 'GET', path: '/prices', door: 'query-api', family: 'clob' },
  { method: 'POST', path: '/prices', door: 'query-api', family: 'clob' },
  { method: 'GET', path: '/midpoint', door: 'query-api', family: 'clob' },
  { method: 'GET', path: '/midpoints', door: 'query-api', family: 'clob' },
  { method: 'POST', path: '/midpoints', door: 'query-api', family: 'clob' },
  { method: 'GET', path: '/spread', door: 'query-api', family: 'clob' },
  { method: 'GET', path: '/spreads', door: 'query-api', family: 'clob' },
  { method: 'POST', path: '/spreads', door: 'query-api', family: 'clob' },
  { method: 'GET', path: '/last-trade-price', door: 'query-api', family: 'clob' },
  { method: 'GET', path: '/last-trades-prices', door: 'query-api', family: 'clob' },
  { method: 'POST', path: '/last-trades-prices', door: 'query-api', family: 'clob' },
  { method: 'GET', path: '/prices-history', door: 'query-api', family: 'clob' },
  { method: 'POST', path: '/batch-prices-history', door: 'query-api', family: 'clob' },
  { method: 'GET', path: '/candles', door: 'query-api', family: 'clob' },
  { method: 'GET', path: '/tick-size', door: 'query-api', family: 'clob' },
  { method: 'GET', path: '/tick-size/:token_id', door: 'query-api', family: 'clob' },
  { method: 'GET', path: '/neg-risk', door: 'query-api', family: 'clob' },
  { method: 'GET', path: '/neg-risk/:token_id', door: 'query-api', family: 'clob' },
  { method: 'GET', path: '/fee-rate', door: 'query-api', family: 'clob' },
  { method: 'GET', path: '/fee-rate/:token_id', door: 'query-api', family: 'clob' },
] as const satisfies readonly HttpRoute[];
