export { splitAccount } from './address.ts';
export { resultsOf } from './faults.ts';
export { openRedis, type RedisClient } from './open.io.ts';
export {
  type DefinedScript,
  defineScript,
  type ScriptArgument,
  type ScriptClient,
} from './script.io.ts';
export {
  type RedisServerFacts,
  type RedisServerKind,
  readServerFacts,
  readServerKind,
  redisMetrics,
  watchRedisServer,
} from './server-facts.io.ts';
