import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { webPageProblem } from '@pm/kit/listener';
import type { ClickhousePasswords } from '../engines/clickhouse-password.ts';
import { frontError } from './engine-error.ts';
import type { Role } from './engine-session.ts';

/** Names that may write, with the password of the writers. */
const writers = new Set(['default', 'pm_writer']);

/** Names of roles that read only (clickhouse.md); their limits are not implemented here. */
const readers = new Set(['pm_reader', 'pm_auditor', 'pm_analyst', 'pm_grafana']);

/**
 * Refuses requests of web pages (`webPageProblem`).
 *
 * @throws EngineError 497
 */
export function refuseWebPages(request: IncomingMessage): void {
  const problem = webPageProblem(request);
  if (problem !== null) throw frontError('ACCESS_DENIED', `Refused: ${problem}.`);
}

/**
 * Rights of the user that a request names. `default` reads with the password of the readers, and writes with that of
 * the writers, which reads for every name.
 *
 * @param passwords null lets everyone write who can connect (tests with engines of their own).
 * @throws EngineError 516 for an unknown user or a wrong password.
 */
export function roleOf(
  request: IncomingMessage,
  searchParams: URLSearchParams,
  passwords: ClickhousePasswords | null,
): Role {
  const { user, password } = callerOf(request, searchParams);
  const isWriter = passwords === null || areEqual(password, passwords.writers);
  const isReader = isWriter || areEqual(password, passwords.readers);
  // A GET may not change anything, as on a server.
  if (writers.has(user) && isWriter) return request.method === 'POST' ? 'writer' : 'reader';
  if ((readers.has(user) || user === 'default') && isReader) return 'reader';
  throw frontError(
    'AUTHENTICATION_FAILED',
    `${user}: Authentication failed: password is incorrect, or there is no user with such name.`,
  );
}

function callerOf(
  request: IncomingMessage,
  searchParams: URLSearchParams,
): { readonly user: string; readonly password: string } {
  const basic = /^Basic (.+)$/i.exec(request.headers.authorization ?? '')?.[1] ?? '';
  const [, basicUser, basicPassword] =
    /^([^:]*):?(.*)$/s.exec(Buffer.from(basic, 'base64').toString('utf8')) ?? [];
  const first = (header: string, inBasic: string | undefined, name: string) =>
    headerOf(request, header) || inBasic || searchParams.get(name) || '';
  return {
    user: first('x-clickhouse-user', basicUser, 'user') || 'default',
    password: first('x-clickhouse-key', basicPassword, 'password'),
  };
}

/** Takes the same time for every wrong password. */
function areEqual(given: string, wanted: string): boolean {
  const digest = (text: string) => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(given), digest(wanted));
}

/** The first value of a header. */
export function headerOf(request: IncomingMessage, name: string): string | undefined {
  const value = request.headers[name];
  return Array.isArray(value) ? value[0] : value;
}
