import { fromEngine, frontError } from './engine-error.ts';
import { type EngineResult, type EngineSession, quoteName, quoteText } from './engine-session.ts';
import type { SessionLease } from './session-pool.ts';

/** One statement and the options of its request. */
export interface Query {
  /** One statement, checked; never with rows in it. */
  readonly sql: string;
  /** The literal in `sql` that names the file of the front for rows or a result. */
  readonly file: string | undefined;
  /** Format of the result where the statement names none. */
  readonly format: string;
  readonly database: string | undefined;
  /** Settings of this query alone. */
  readonly settings: ReadonlyMap<string, string>;
  /** Values of `{name:Type}`, as the client escaped them. */
  readonly parameters: ReadonlyMap<string, string>;
  /** The statement changes its session. */
  readonly changesSession: boolean;
  /** The statement may take the database of other sessions away. */
  readonly changesDatabases: boolean;
}

/**
 * Settings that DEFAULT does not reset: those on the rights of a session would turn a reader's session into a writer's,
 * and `compatibility` changes hundreds of others, which stay (measured).
 */
const lastingSettings = new Set(['readonly', 'allow_ddl', 'profile', 'compatibility']);

const namePattern = /^[A-Za-z_]\w*$/;

/**
 * Runs one query without effects on others. Settings stay in the session, since setting and resetting them costs as
 * much as a small query; the next query first sets those that differ: with an old deduplication token the engine would
 * drop the next batch silently. A session that cannot get a query's settings is closed.
 *
 * @throws EngineError
 */
export async function runQuery(lease: SessionLease, query: Query): Promise<EngineResult> {
  for (const name of query.settings.keys()) requireName(name, 'setting');
  for (const name of query.parameters.keys()) requireName(name, 'parameter');
  try {
    await lease.requirePermitted(query);
    const session = await sessionFor(lease, query);
    await enterDatabase(session, query.database ?? lease.defaultDatabase);
    if (query.changesSession) session.spoiled = true;
    for (const name of query.parameters.keys()) session.parameters.add(name);
    const result = await session.run(withParameters(query), query.format);
    if (query.changesDatabases) lease.leaveDatabases();
    return result;
  } catch (error) {
    throw fromEngine(error);
  }
}

/**
 * A session with the settings of this query, and without parameters of earlier ones that it refers to: those cannot be
 * unset. Settings of an earlier query may prevent those of this one, so a failure is retried in a new session.
 */
async function sessionFor(lease: SessionLease, query: Query): Promise<EngineSession> {
  const session = await lease.session();
  const seesOld = [...session.parameters].some(
    (name) => !query.parameters.has(name) && new RegExp(`\\{\\s*${name}\\s*:`).test(query.sql),
  );
  if (!seesOld) {
    try {
      await enterSettings(session, query.settings);
      return session;
    } catch {
      // An unknown setting fails again in the new session, and that is the result.
    }
  }
  const fresh = await lease.freshSession();
  await enterSettings(fresh, query.settings);
  return fresh;
}

/** Sets the settings that differ from the query before; those that this one lacks get their defaults. */
async function enterSettings(
  session: EngineSession,
  settings: ReadonlyMap<string, string>,
): Promise<void> {
  const gone = [...session.settings.keys()].filter((name) => !settings.has(name));
  const changed = [...settings].filter(([name, value]) => session.settings.get(name) !== value);
  if (gone.length + changed.length === 0) return;
  // A SET that fails may have changed some settings.
  session.spoiled = true;
  // Two statements: within one, DEFAULT comes last and would undo a setting that has an alias.
  if (gone.length > 0)
    await session.run(`SET ${gone.map((name) => `${name} = DEFAULT`).join(', ')}`);
  const values = changed.map(([name, value]) => assigned(name, value));
  if (values.length > 0) await session.run(`SET ${values.join(', ')}`);
  session.spoiled = changed.some(([name]) => lastingSettings.has(name));
  session.settings = settings;
}

async function enterDatabase(session: EngineSession, database: string): Promise<void> {
  if (session.database === database) return;
  await session.run(`USE ${quoteName(database)}`);
  session.database = database;
}

/** Parameters are sent with the statement: one call of the engine instead of two. */
function withParameters({ sql, parameters }: Query): string {
  if (parameters.size === 0) return sql;
  const values = [...parameters].map(([name, value]) => assigned(`param_${name}`, value));
  return `SET ${values.join(', ')}; ${sql}`;
}

function assigned(name: string, value: string): string {
  return `${name} = ${quoteText(value)}`;
}

function requireName(name: string, kind: 'setting' | 'parameter'): void {
  if (namePattern.test(name)) return;
  if (kind === 'setting')
    throw frontError(
      'UNKNOWN_SETTING',
      `Setting ${name} is neither a builtin setting nor started with a known prefix.`,
    );
  throw frontError('BAD_ARGUMENTS', `'${name}' is not a name for a query parameter.`);
}
