import type { IncomingMessage } from 'node:http';
import type { ClickhousePasswords } from '../engines/clickhouse-password.ts';
import { headerOf, roleOf } from './callers.ts';
import { frontError } from './engine-error.ts';
import type { Role } from './engine-session.ts';

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
 * @param passwords see `roleOf`.
 * @throws EngineError 516 for an unknown user or a wrong password, 48 for ClickHouse's own compression of bodies.
 */
export function readOptions(
  request: IncomingMessage,
  url: URL,
  passwords: ClickhousePasswords | null,
): RequestOptions {
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
    role: roleOf(request, searchParams, passwords),
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

function wantsGzip(request: IncomingMessage, searchParams: URLSearchParams): boolean {
  if (searchParams.get('enable_http_compression') === '0') return false;
  const accepted = headerOf(request, 'accept-encoding') ?? '';
  return accepted.split(',').some((coding) => coding.split(';', 1)[0]?.trim() === 'gzip');
}
