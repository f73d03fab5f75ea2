export { type AnsweredTo, answeredBy } from './answered-header.io.ts';
export {
  answeredHeader,
  behindHeader,
  hasReached,
  type LogPlaces,
  placesIn,
  placesText,
} from './answered-places.ts';
export type { HttpApp, LimitsAtHand, RequestLimits } from './app.io.ts';
export {
  type ClientAddress,
  clientAddressBy,
  countedAddressBy,
  trustBy,
} from './client-address.io.ts';
export { ConnectionShares, type ShedReason } from './connection-shares.io.ts';
export {
  defaultHttpLimits,
  evictFrom,
  listenerBounds,
} from './listener-bounds.ts';
export { countShed, httpMetrics, httpReadings, shedMetrics } from './observe.io.ts';
export { openHttp } from './open.io.ts';
export { descriptionRoutes } from './openapi-routes.io.ts';
export { openingLimitOf } from './opening-rates.ts';
export {
  parseBooleanParam,
  parseIntegerParam,
  parseListParam,
  type RawParam,
} from './query-params.ts';
export { refusalBody, refuse } from './refuse.io.ts';
export { errorStyleOf, originForm } from './route-family.ts';
export {
  type Dialect,
  familyOf,
  type HttpHandler,
  registerRoutes,
  tableMethod,
} from './service-routes.io.ts';
export { Shares } from './shares.ts';
export { waitedBy, waitedHeader } from './waited-header.io.ts';
