import { toolCall } from '@pm/deploy/installation/tool-call';
import type { RedisServerFacts, RedisServerKind } from '@pm/kit/redis';
import type { RedisServerRights } from '../access/redis-users.ts';
import { type Judgement, no, unknown, yes } from './need.ts';

const oldestVersion = [6, 2] as const;

export function judgeVersion({ version }: Pick<RedisServerKind, 'version'>): Judgement {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  const [needsMajor, needsMinor] = oldestVersion;
  if (major > needsMajor || (major === needsMajor && minor >= needsMinor)) return yes(version);
  return no(version === '' ? 'it names no version' : version, 'use Redis 6.2 or newer');
}

export function judgeShape({ isPrimary, isCluster }: RedisServerKind): Judgement {
  if (isCluster) return no('it is a cluster', 'use one primary: scripts use keys of several slots');
  return isPrimary ? yes('one primary') : no('it is a replica', 'name the primary');
}

/** A script that asked the server of itself. */
export function judgeScripts(answer: string): Judgement {
  return answer.includes('run_id:')
    ? yes('scripts run, and may ask INFO')
    : no('a script gets no INFO', 'use a server with Lua and INFO in scripts');
}

export function judgeEviction({ isEvicting }: Pick<RedisServerFacts, 'isEvicting'>): Judgement {
  return isEvicting
    ? no('keys are removed to make room', 'set maxmemory-policy noeviction')
    : yes('no key is removed to make room');
}

/** `wanted` is `always` for a server with the ledger unless its projectors have `PM_LEDGER_SYNC=any`. */
export function judgePersistence(found: {
  readonly sync: RedisServerFacts['sync'];
  readonly wanted: 'always' | 'any';
}): Judgement {
  const { sync, wanted } = found;
  if (sync === 'off') return no('it keeps no append-only file', 'set appendonly yes');
  if (sync === 'unknown')
    return unknown('an append-only file; this account may not ask for appendfsync');
  if (wanted === 'any' || sync === 'always') return yes(`an append-only file, ${sync}`);
  const todo = 'set appendfsync always, or PM_LEDGER_SYNC=any for projectors';
  return no(`an append-only file, ${sync}: a machine that dies forgets reservations`, todo);
}

/** Room that the server of the cache has beside what the cache may take. */
const cacheFactor = 1.5;

/** `cacheBytes` is 0 where the server has no cache. */
export function judgeMemory(found: {
  readonly maxBytes: number;
  readonly cacheBytes: number;
}): Judgement {
  const { maxBytes, cacheBytes } = found;
  if (maxBytes === 0) return yes('no maxmemory');
  const line = `maxmemory is ${maxBytes}`;
  if (maxBytes >= cacheBytes * cacheFactor) return yes(line);
  return no(line, `set ${Math.ceil(cacheBytes * cacheFactor)} or more, or PM_REDIS_CACHE_BYTES`);
}

/** An account as `ACL GETUSER` shows it. */
export interface RedisAccount {
  /** `-@all`, `+get`, `+@read`: the last one that fits a command decides. */
  readonly commands: readonly string[];
  /** Commands of the categories in these rules. */
  readonly categories: ReadonlyMap<string, readonly string[]>;
  /** `~pattern`, `%R~pattern`; patterns alone before 7.0. */
  readonly keys: readonly string[];
  /** `&pattern`, patterns alone before 7.0. */
  readonly channels: readonly string[];
}

/** An account by its rules; null stands for one that the server does not have. */
export function judgeAccount(found: {
  readonly name: string;
  readonly rights: RedisServerRights;
  readonly account: RedisAccount | null;
}): Judgement {
  const { name, rights, account } = found;
  if (account === null) return unknown(`there is no account ${name}; it may have another name`);
  const lacking = [
    ...lackingCommands(rights, account),
    ...lackingKeys(rights, account),
    ...lackingChannels(rights, account),
  ];
  const [first] = lacking;
  if (first === undefined) return yes(`${name} has all its rights`);
  const more = lacking.length === 1 ? '' : ` and ${lacking.length - 1} more`;
  const todo = `load what ${toolCall('access', '--format', 'redis')} writes`;
  return no(`${name} lacks ${first}${more}`, todo);
}

function lackingCommands(rights: RedisServerRights, account: RedisAccount): readonly string[] {
  const { commands: rules, categories } = account;
  return rights.commands.filter((command) => {
    const names = ['@all', command, command.split('|')[0] ?? ''];
    const fits = (name: string) =>
      names.includes(name) ||
      (name.startsWith('@') && categories.get(name.slice(1))?.some((one) => names.includes(one)));
    const last = rules.findLast((rule) => fits(rule.slice(1)) === true);
    return last?.startsWith('+') !== true;
  });
}

function lackingKeys(rights: RedisServerRights, { keys }: RedisAccount): readonly string[] {
  const bare = (rules: readonly string[]) => rules.map((rule) => rule.replace(/^(%[RW]*)?~/, ''));
  const readable = bare(keys.filter((rule) => !rule.startsWith('%W~')));
  const writable = bare(keys.filter((rule) => !/^%[RW]~/.test(rule)));
  const lacks = (patterns: readonly string[]) => (key: string) =>
    !patterns.some((pattern) => includes(pattern, key));
  return [...rights.reads.filter(lacks(readable)), ...rights.writes.filter(lacks(writable))];
}

function lackingChannels(rights: RedisServerRights, { channels }: RedisAccount): readonly string[] {
  const granted = channels.map((rule) => rule.replace(/^&/, ''));
  return rights.channels.filter((name) => !granted.some((pattern) => includes(pattern, name)));
}

/** Whether a pattern has all that another one has: as far as it can be said of a beginning with `*` after it. */
function includes(pattern: string, other: string): boolean {
  const beginning = pattern.slice(0, -1);
  return pattern === other || (/^[^*?[\\]*\*$/.test(pattern) && other.startsWith(beginning));
}
