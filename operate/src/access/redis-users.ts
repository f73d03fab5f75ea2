import { type RedisKeys, redisKeys } from '@pm/schemas/redis/keys';
import { accountOf } from './declared.ts';
import { passwordHashOf } from './password-hash.ts';
import type { DeclaredAccess, RedisKeyName, RedisRights } from './rights.ts';

/** One of two servers, or the only one. */
export const redisServers = ['all', 'ledger', 'cache'] as const;
export type RedisServer = (typeof redisServers)[number];

export interface RedisUsersOptions {
  readonly server: RedisServer;
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
  { server, redisPrefix, hasReadOnlyKeys }: RedisUsersOptions,
): readonly string[] {
  const read = hasReadOnlyKeys ? '%R~' : '~';
  const users = declared.flatMap((access) => {
    const rights = redisRightsOf(access, { server, redisPrefix });
    if (rights === null) return [];
    const { reads, writes, commands, channels } = rights;
    const rules = [
      `user ${accountOf(access)} on`,
      `#${passwordHashOf(access)}`,
      'resetkeys resetchannels -@all',
      ...reads.map((pattern) => `${read}${pattern}`),
      ...writes.map((pattern) => `~${pattern}`),
      ...channels.map((channel) => `&${channel}`),
      ...commands.map((command) => `+${command}`),
    ];
    return [rules.join(' ')];
  });
  return ['user default off', ...users];
}

/** The declared rights of an account at one server; keys are patterns. */
export interface RedisServerRights {
  readonly reads: readonly string[];
  readonly writes: readonly string[];
  readonly commands: readonly string[];
  readonly channels: readonly string[];
}

/** Null for an account that the server does not need. */
export function redisRightsOf(
  access: DeclaredAccess,
  { server, redisPrefix }: Pick<RedisUsersOptions, 'server' | 'redisPrefix'>,
): RedisServerRights | null {
  const rights = rightsAt(server, access);
  if (rights === null) return null;
  const keys = redisKeys(redisPrefix);
  const patterns = (names: readonly RedisKeyName[]) => names.map((name) => patternOf(keys, name));
  return { ...rights, reads: patterns(rights.reads), writes: patterns(rights.writes) };
}

function rightsAt(server: RedisServer, { redis, redisCache }: DeclaredAccess): RedisRights | null {
  if (server === 'ledger') return redis;
  if (server === 'cache' || redis === null) return redisCache ?? null;
  if (redisCache === undefined) return redis;
  return {
    reads: [...redis.reads, ...redisCache.reads],
    writes: [...redis.writes, ...redisCache.writes],
    commands: [...new Set([...redis.commands, ...redisCache.commands])],
    channels: [...redis.channels, ...redisCache.channels],
  };
}

/** A prefix has no character with a meaning in patterns. */
function patternOf(keys: RedisKeys, name: RedisKeyName): string {
  // The wallets of a rebuild under way are in a set beside it.
  if (name === 'ledgerInsolvent') return `${keys[name]}*`;
  const key: unknown = keys[name];
  return typeof key === 'function' ? String(key('*')) : String(key);
}
