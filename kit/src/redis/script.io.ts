import { createHash } from 'node:crypto';
import { assert } from '../assert/index.ts';
import { isMissingScript } from './faults.ts';
import type { RedisClient } from './open.io.ts';

/** Arguments of a script: text, whole numbers, or bytes. */
export type ScriptArgument = string | number | Buffer;

/** A script as a function of its keys and arguments. Rejects with the faults of `openRedis`. */
export type Script<T> = (keys: readonly string[], args: readonly ScriptArgument[]) => Promise<T>;

/**
 * The parts of a script that a pipeline uses: `pipeline.evalsha(sha, keys.length, ...keys, ...args)` after `load()`.
 */
export interface DefinedScript<T> {
  readonly name: string;
  /** SHA-1 of the source, the name the server knows it by. */
  readonly sha: string;
  run: Script<T>;
  /** Loads the script into the server; after a restart of the server `run` loads it again. */
  load(): Promise<void>;
}

/** The commands of a `RedisClient` that scripts use. */
export type ScriptClient = Pick<RedisClient, 'eval' | 'evalsha' | 'script'>;

const scriptName = /^[a-z][A-Za-z0-9]*$/;

/**
 * Defines a Lua script that takes `numberOfKeys` keys. It is called by its hash; the source is sent only when the
 * server does not have it. `T` is the type of the script's result.
 */
export function defineScript<T>(
  client: ScriptClient,
  name: string,
  lua: string,
  numberOfKeys: number,
): DefinedScript<T> {
  assert(scriptName.test(name), `the script name ${name} is a word`);
  const sha = createHash('sha1').update(lua).digest('hex');
  return {
    name,
    sha,
    async run(keys, args) {
      assert(keys.length === numberOfKeys, `${name} takes ${numberOfKeys} keys`);
      try {
        return (await client.evalsha(sha, numberOfKeys, ...keys, ...args)) as T;
      } catch (error) {
        if (!isMissingScript(error)) throw error;
        return (await client.eval(lua, numberOfKeys, ...keys, ...args)) as T;
      }
    },
    async load() {
      await client.script('LOAD', lua);
    },
  };
}
