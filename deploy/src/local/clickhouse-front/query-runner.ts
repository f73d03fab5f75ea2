import { fromEngine, frontError } from './engine-error.ts';
import {
  type EngineResult,
  type EngineSession,
  quoteName,
  type SessionLease,
} from './session-pool.ts';

/** One statement with all that a request says about it. */
export interface Query {
  /** One statement, checked; never with rows in it. */
  readonly sql: string;
  /** Format of the answer where the statement names none. */
  readonly format: string;
  readonly database: string | undefined;
  /** Settings of this query alone. */
  readonly settings: ReadonlyMap<string, string>;
  /** Values of `{name:Type}`, as the client escaped them. */
  readonly parameters: ReadonlyMap<string, string>;
  /** The statement leaves something behind in its session. */
  readonly changesSession: boolean;
}

/**
 * Settings that say what a session may do: set back by DEFAULT, they would make a reader's session
 * a writer's.
 */
const RIGHTS = new Set(['readonly', 'allow_ddl', 'profile']);

const NAME = /^[A-Za-z_]\w*$/;

/**
 * Runs one query so that nothing of it stays in the session. Settings are SET before and set back
 * after, also when the query fails: a deduplication token left behind would make the engine drop
 * the next batch without a word. A session that cannot be cleaned is closed.
 *
 * @throws EngineError
 */
export async function runQuery(lease: SessionLease, query: Query): Promise<EngineResult> {
  for (const name of query.settings.keys()) requireName(name, 'setting');
  for (const name of query.parameters.keys()) requireName(name, 'parameter');
  try {
    const session = await sessionFor(lease, query);
    await enterDatabase(session, query.database ?? lease.defaultDatabase);
    return await runWithSettings(session, query);
  } catch (error) {
    throw fromEngine(error);
  }
}

/**
 * A parameter of an earlier query cannot be unset; where this one would see it, it gets a new
 * session.
 */
async function sessionFor(lease: SessionLease, query: Query): Promise<EngineSession> {
  const session = await lease.session();
  const seesOld = [...session.parameters].some(
    (name) => !query.parameters.has(name) && new RegExp(`\\{\\s*${name}\\s*:`).test(query.sql),
  );
  return seesOld ? lease.freshSession() : session;
}

async function enterDatabase(session: EngineSession, database: string): Promise<void> {
  if (session.database === database) return;
  await session.run(`USE ${quoteName(database)}`);
  session.database = database;
}

async function runWithSettings(session: EngineSession, query: Query): Promise<EngineResult> {
  const assignments = [
    ...[...query.settings].map(([name, value]) => `${name} = ${quoteText(value)}`),
    ...[...query.parameters].map(([name, value]) => `param_${name} = ${quoteText(value)}`),
  ];
  try {
    for (const name of query.parameters.keys()) session.parameters.add(name);
    if ([...query.settings.keys()].some((name) => RIGHTS.has(name))) session.spoiled = true;
    if (assignments.length > 0) await session.run(`SET ${assignments.join(', ')}`);
    if (query.changesSession) session.spoiled = true;
    return await session.run(query.sql, query.format);
  } finally {
    await resetSettings(session, [...query.settings.keys()]);
  }
}

async function resetSettings(session: EngineSession, names: readonly string[]): Promise<void> {
  if (names.length === 0 || session.spoiled) return;
  try {
    await session.run(`SET ${names.map((name) => `${name} = DEFAULT`).join(', ')}`);
  } catch {
    // An unknown setting, or readonly = 1: the query has its own answer, the session goes.
    session.spoiled = true;
  }
}

function requireName(name: string, kind: 'setting' | 'parameter'): void {
  if (NAME.test(name)) return;
  if (kind === 'setting')
    throw frontError(
      'UNKNOWN_SETTING',
      `Setting ${name} is neither a builtin setting nor started with a known prefix.`,
    );
  throw frontError('BAD_ARGUMENTS', `'${name}' is not a name for a query parameter.`);
}

function quoteText(text: string): string {
  if (text.includes('\0')) throw frontError('BAD_ARGUMENTS', 'A value holds a zero byte.');
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
}
