export { redisFault, resultsOf } from './faults.ts';
export { openRedis, type RedisClient, type RedisClientOptions } from './open.io.ts';
export { type DefinedScript, defineScript, type Script, type ScriptArgument } from './script.io.ts';
