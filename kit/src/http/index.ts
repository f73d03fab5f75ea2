export type { HttpApp } from './app.ts';
export { openToBrowsers } from './cors.ts';
export { type Dialect, type DoorRoute, registerRoutes, tableMethod } from './door-routes.ts';
export type { ErrorBody } from './errors.ts';
export { type DoorBounds, defaultHttpLimits, doorBounds, type HttpLimits } from './limits.ts';
export { type HttpOptions, openHttp } from './open.ts';
export {
  type ParsedParam,
  parseBooleanParam,
  parseIntegerParam,
  parseListParam,
  type RawParam,
} from './query-params.ts';
export { type RefusalExtra, refusalBody, refuse } from './refuse.ts';
export type { LimitsAtHand, RequestLimits } from './request-limits.ts';
export { familyOf, inWordsOf, originForm } from './route-family.ts';
export type { Verdict } from './verdict.ts';
