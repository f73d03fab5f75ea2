import { Session } from 'chdb';
import { frontError } from './engine-error.ts';

/** Rights of a caller: a reader asks what `JudgedStatements` permits, with `readonly = 2` in the engine besides. */
export type Role = 'writer' | 'reader';

/** A result of the embedded engine. */
export interface EngineResult {
  readonly bytes: Uint8Array;
  readonly rowsRead: number;
  readonly bytesRead: number;
  readonly elapsedSeconds: number;
}

/** One session of the embedded engine and the state that earlier queries left in it. */
export class EngineSession {
  /** The database entered; empty where the next query has to enter one, and is refused if there is none. */
  database = '';
  /** Parameters once set: they can be replaced, never unset. */
  readonly parameters = new Set<string>();
  /** Settings of the query before, still in force: the next one changes those that differ. */
  settings: ReadonlyMap<string, string> = new Map();
  /** It has state that cannot be reset: close it instead of using it again. */
  spoiled = false;
  readonly #session: Session;

  private constructor(session: Session) {
    this.#session = session;
  }

  static async open(dataDir: string, role: Role): Promise<EngineSession> {
    // The engine has its configuration since the first session of the process.
    const session = new EngineSession(new Session(dataDir));
    if (role === 'reader') await session.run('SET readonly = 2');
    return session;
  }

  async run(sql: string, format = 'TabSeparated'): Promise<EngineResult> {
    const result = await this.#session.queryAsync(sql, { format });
    return {
      bytes: result.bytes(),
      rowsRead: result.rowsRead,
      bytesRead: result.bytesRead,
      elapsedSeconds: result.elapsed,
    };
  }

  close(): void {
    this.#session.close();
  }
}

/** A name as an identifier that cannot end early. */
export function quoteName(name: string): string {
  return `\`${name.replaceAll('\\', '\\\\').replaceAll('`', '\\`')}\``;
}

/** The source of an INSERT whose rows are in a file of the front, named by this literal. */
export function rowsClause(literal: string): string {
  return `FROM INFILE ${literal} COMPRESSION 'none'`;
}

/**
 * A string literal.
 *
 * @throws EngineError 36 for a zero byte.
 */
export function quoteText(text: string): string {
  if (text.includes('\0')) throw frontError('BAD_ARGUMENTS', 'A value contains a zero byte.');
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
}
