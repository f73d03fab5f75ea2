export { redisFault } from './faults.ts';
export { openRedis, type RedisClient, type RedisClientOptions } from './open.io.ts';
export { resultsOf } from './pipeline.ts';
export { type DefinedScript, defineScript, type Script, type ScriptArgument } from './script.io.ts';
