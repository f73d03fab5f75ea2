export type { HttpApp, LimitsAtHand, RequestLimits } from './app.io.ts';
export {
  type Dialect,
  type DoorRoute,
  familyOf,
  registerRoutes,
  tableMethod,
} from './door-routes.io.ts';
export type { ErrorBody } from './errors.io.ts';
export {
  type DoorBounds,
  defaultHttpLimits,
  doorBounds,
  type HttpLimits,
  type Verdict,
} from './limits.ts';
export { type HttpOptions, openHttp } from './open.io.ts';
export {
  type ParsedParam,
  parseBooleanParam,
  parseIntegerParam,
  parseListParam,
  type RawParam,
} from './query-params.ts';
export { type RefusalExtra, refusalBody, refuse } from './refuse.io.ts';
export { openToBrowsers } from './response-headers.io.ts';
export { inWordsOf, originForm } from './route-family.ts';
