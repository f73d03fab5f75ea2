export { type Caller, type CallerKind, countedAddress, limitTable } from './callers.ts';
export { leasedShare, RateLimiter, type RateLimiterOptions, type RuleUse } from './limiter.ts';
export { type DoorLimiter, openDoorLimiter } from './open.ts';
export { RedisLimits } from './redis-limits.ts';
export type { Granted, LimitStore, Want } from './store.ts';
export type { Verdict } from './verdict.ts';
export { type RateLimitReads, rateLimitReads } from './wire.ts';
