export { redisFault } from './faults.ts';
export { openRedis, type RedisClient, type RedisClientOptions } from './open.ts';
export { type DefinedScript, defineScript, type Script, type ScriptArgument } from './script.ts';
