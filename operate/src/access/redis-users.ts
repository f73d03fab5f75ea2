import { type RedisKeys, redisKeys } from '@pm/schemas';
import { accountOf, type DeclaredAccess, type RedisKeyName } from './declared.ts';
import { passwordHashOf } from './password-hash.ts';

export interface RedisUsersOptions {
  readonly redisPrefix: string;
  /** Redis 6.2 knows no keys that are only read: all keys of an account may be written there. */
  readonly hasReadOnlyKeys: boolean;
}

/**
 * Lines of an ACL file of Redis: one for each account, with its keys and commands and nothing else. Access without a
 * user is turned off.
 */
export function redisUserLines(
  declared: readonly DeclaredAccess[],
  { redisPrefix, hasReadOnlyKeys }: RedisUsersOptions,
): readonly string[] {
  const keys = redisKeys(redisPrefix);
  const read = hasReadOnlyKeys ? '%R~' : '~';
  const users = declared.flatMap((access) => {
    if (access.redis === null) return [];
    const { reads, writes, commands, channels } = access.redis;
    const rules = [
      `user ${accountOf(access)} on`,
      `#${passwordHashOf(access)}`,
      'resetkeys resetchannels -@all',
      ...reads.map((name) => `${read}${patternOf(keys, name)}`),
      ...writes.map((name) => `~${patternOf(keys, name)}`),
      ...channels.map((channel) => `&${channel}`),
      ...commands.map((command) => `+${command}`),
    ];
    return [rules.join(' ')];
  });
  return ['user default off', ...users];
}

/** A prefix has no character with a meaning in patterns. */
function patternOf(keys: RedisKeys, name: RedisKeyName): string {
  // The wallets of a rebuild under way are in a set beside it.
  if (name === 'ledgerInsolvent') return `${keys[name]}*`;
  const key: unknown = keys[name];
  return typeof key === 'function' ? String(key('*')) : String(key);
}
