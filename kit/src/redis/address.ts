/** One place that a client connects to. */
export interface RedisPlace {
  readonly host: string;
  readonly port: number;
}

/** Sentinels, and what they are asked for. */
export interface SentinelAddress {
  readonly sentinels: readonly RedisPlace[];
  /** The name under which the Sentinels watch the primary. */
  readonly name: string;
  readonly db: number;
}

/** An address, and the account that was in it; empty texts for what is not there. */
export interface SplitAddress {
  readonly address: string;
  readonly username: string;
  readonly password: string;
}

const accountPattern = /^([a-z+]+:\/\/)([^/?#]*)@/;
const serverPattern = /^rediss?:\/\//;
const sentinelPattern = /^rediss?\+sentinel:\/\/([^@/]+)\/([\w.-]{1,255})(?:\/(\d{1,5}))?$/;
const placePattern = /^(\[[\da-fA-F:.]+\]|[\w.-]+)(?::(\d{1,5}))?$/;

const serverPort = 6_379;
const sentinelPort = 26_379;
const portMax = 65_535;
const sentinelsMax = 16;

/** The forms of an address, in words. */
export const redisAddressForms =
  'a URL starting with redis:// or rediss://, or `redis+sentinel://host:port,host:port/name` (`rediss+sentinel` with TLS; up to 16 Sentinels)';

/** Whether a text is the address of a server, or of Sentinels. */
export function isRedisAddress(text: string): boolean {
  if (serverPattern.test(text)) return URL.canParse(text) && new URL(text).hostname !== '';
  return sentinelAddressOf(splitAccount(text).address) !== null;
}

/** Takes the account out of an address. User and password are percent-encoded in it, as in every URL. */
export function splitAccount(text: string): SplitAddress {
  const [found = '', scheme = '', account = ''] = accountPattern.exec(text) ?? [];
  const [username = '', ...rest] = account.split(':');
  return {
    address: scheme + text.slice(found.length),
    username: decoded(username),
    password: decoded(rest.join(':')),
  };
}

/** Host, port and number of the database of one server. */
export function serverOf(address: string): RedisPlace & { readonly db: number } {
  const { hostname, port, pathname } = new URL(address);
  return { host: bare(hostname), port: Number(port || serverPort), db: Number(pathname.slice(1)) };
}

/**
 * The parts of `redis+sentinel://host:port,host:port/name/db`; the number of the database may be missing. Null for any
 * other text, and for one with an account.
 */
export function sentinelAddressOf(address: string): SentinelAddress | null {
  const found = sentinelPattern.exec(address);
  if (found === null) return null;
  const [, hosts = '', name = '', db = '0'] = found;
  const places = hosts.split(',').map(placeOf);
  const sentinels = places.filter((place) => place !== null);
  if (sentinels.length < places.length || sentinels.length > sentinelsMax) return null;
  return { sentinels, name, db: Number(db) };
}

function placeOf(text: string): RedisPlace | null {
  const found = placePattern.exec(text);
  if (found === null) return null;
  const [, host = '', port = String(sentinelPort)] = found;
  const isPort = Number(port) > 0 && Number(port) <= portMax;
  return isPort ? { host: bare(host), port: Number(port) } : null;
}

/** Without the brackets of an IPv6 address. */
function bare(host: string): string {
  return host.replace(/^\[|\]$/g, '');
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
