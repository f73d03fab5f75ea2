import type { IncomingMessage } from 'node:http';
import { frontError } from './engine-error.ts';
import type { Role } from './session-pool.ts';

/** Options in the address and the headers of a request. */
export interface RequestOptions {
  readonly role: Role;
  readonly query: string;
  readonly queryId: string;
  readonly database: string | undefined;
  readonly format: string;
  readonly settings: ReadonlyMap<string, string>;
  readonly parameters: ReadonlyMap<string, string>;
  readonly wantsGzip: boolean;
}

/** Names in the address that belong to the interface and are no settings of the engine. */
const interfaceNames = new Set([
  'query',
  'query_id',
  'database',
  'default_format',
  'user',
  'password',
  'quota_key',
  'role',
  'session_id',
  'session_check',
  'session_timeout',
  'close_session',
  'wait_end_of_query',
  'buffer_size',
  'compress',
  'decompress',
  'stacktrace',
  'enable_http_compression',
  'client_protocol_version',
  'http_zlib_compression_level',
]);

/**
 * Every user may do everything on a local stack, as on a fresh server, except the names of roles that only read
 * (clickhouse.md); the limits of roles are not implemented here.
 */
const roleOfUser: ReadonlyMap<string, Role> = new Map([
  ['default', 'writer'],
  ['pm_writer', 'writer'],
  ...['pm_reader', 'pm_auditor', 'pm_analyst', 'pm_grafana'].map(
    (name) => [name, 'reader'] as const,
  ),
]);

/**
 * @throws EngineError 516 for an unknown user, 48 for ClickHouse's own compression of bodies.
 */
export function readOptions(request: IncomingMessage, url: URL): RequestOptions {
  const { searchParams } = url;
  if (searchParams.get('compress') === '1' || searchParams.get('decompress') === '1') {
    throw frontError(
      'NOT_IMPLEMENTED',
      'Native compression of bodies is not supported here; use gzip.',
    );
  }
  const settings = new Map<string, string>();
  const parameters = new Map<string, string>();
  for (const [name, value] of searchParams) {
    if (name.startsWith('param_')) parameters.set(name.slice('param_'.length), value);
    else if (!interfaceNames.has(name)) settings.set(name, value);
  }
  return {
    role: roleOf(request, searchParams),
    query: searchParams.get('query') ?? '',
    queryId:
      searchParams.get('query_id') ??
      headerOf(request, 'x-clickhouse-query-id') ??
      crypto.randomUUID(),
    database: searchParams.get('database') ?? headerOf(request, 'x-clickhouse-database'),
    format:
      searchParams.get('default_format') ??
      headerOf(request, 'x-clickhouse-format') ??
      'TabSeparated',
    settings,
    parameters,
    wantsGzip: wantsGzip(request, searchParams),
  };
}

/** A GET may not change anything, as on a server. */
function roleOf(request: IncomingMessage, searchParams: URLSearchParams): Role {
  const user = userOf(request, searchParams);
  const role = roleOfUser.get(user);
  if (role === undefined) {
    throw frontError(
      'AUTHENTICATION_FAILED',
      `${user}: Authentication failed: password is incorrect, or there is no user with such name.`,
    );
  }
  return request.method === 'POST' ? role : 'reader';
}

function userOf(request: IncomingMessage, searchParams: URLSearchParams): string {
  const basic = /^Basic (.+)$/i.exec(request.headers.authorization ?? '')?.[1];
  const fromBasic =
    basic === undefined
      ? undefined
      : Buffer.from(basic, 'base64').toString('utf8').split(':', 1)[0];
  const named = headerOf(request, 'x-clickhouse-user') ?? fromBasic ?? searchParams.get('user');
  return named === undefined || named === null || named === '' ? 'default' : named;
}

function wantsGzip(request: IncomingMessage, searchParams: URLSearchParams): boolean {
  if (searchParams.get('enable_http_compression') === '0') return false;
  const accepted = headerOf(request, 'accept-encoding') ?? '';
  return accepted.split(',').some((coding) => coding.split(';', 1)[0]?.trim() === 'gzip');
}

function headerOf(request: IncomingMessage, name: string): string | undefined {
  const value = request.headers[name];
  return Array.isArray(value) ? value[0] : value;
}
