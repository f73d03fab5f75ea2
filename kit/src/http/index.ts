export type { HttpApp } from './app.io.ts';
export { openToBrowsers } from './cors.io.ts';
export { type Dialect, type DoorRoute, registerRoutes, tableMethod } from './door-routes.io.ts';
export type { ErrorBody } from './errors.io.ts';
export { type DoorBounds, defaultHttpLimits, doorBounds, type HttpLimits } from './limits.ts';
export { type HttpOptions, openHttp } from './open.io.ts';
export {
  type ParsedParam,
  parseBooleanParam,
  parseIntegerParam,
  parseListParam,
  type RawParam,
} from './query-params.ts';
export { type RefusalExtra, refusalBody, refuse } from './refuse.io.ts';
export type { LimitsAtHand, RequestLimits } from './request-limits.io.ts';
export { familyOf, inWordsOf, originForm } from './route-family.ts';
export type { Verdict } from './verdict.ts';
