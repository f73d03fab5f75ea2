export type { HttpApp, LimitsAtHand, RequestLimits } from './app.io.ts';
export { type ClientAddress, clientAddressBy } from './client-address.io.ts';
export {
  type Dialect,
  type DoorRoute,
  familyOf,
  registerRoutes,
  tableMethod,
} from './door-routes.io.ts';
export { doorBounds } from './listener-bounds.ts';
export { httpMetrics, httpReadings } from './observe.io.ts';
export { openHttp } from './open.io.ts';
export { descriptionRoutes } from './openapi-routes.io.ts';
export {
  parseBooleanParam,
  parseIntegerParam,
  parseListParam,
  type RawParam,
} from './query-params.ts';
export { refusalBody, refuse } from './refuse.io.ts';
export { refuseUpgrade } from './refuse-upgrade.io.ts';
export { openToBrowsers } from './response-headers.io.ts';
export { inWordsOf, originForm } from './route-family.ts';
export { waitedBy, waitedHeader } from './waited-header.io.ts';
