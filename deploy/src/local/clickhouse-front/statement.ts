/**
 * Reads enough of a ClickHouse statement to treat it like the server's HTTP interface: its verb, whether a second
 * statement follows, where the data of an INSERT begins, and its format. It knows strings, quoted names, heredocs and
 * comments, and nothing else of the grammar: the engine does the parsing. The engine knows further comments, quotes and
 * blanks, so what a statement may do is judged in the engine's own text of it (`JudgedStatements`).
 */
export interface Statement {
  /** First word in upper case, or the sign in its place; empty for an empty text. */
  readonly verb: string;
  /** Something follows the first semicolon. */
  readonly hasSecondStatement: boolean;
  /** FORMAT named at the end of the statement, for the response's header. */
  readonly outputFormat: string | undefined;
  /** Where that FORMAT clause begins, an offset into the text. */
  readonly outputFormatStart: number | undefined;
  /** Set for an INSERT whose rows follow as text, in the statement or in the body. */
  readonly insert: InsertShape | undefined;
  /** SET, USE, CREATE TEMPORARY: changes the session that runs it. */
  readonly changesSession: boolean;
  /** DROP DATABASE, RENAME DATABASE and others: afterwards a name of a database may mean another, or none. */
  readonly changesDatabases: boolean;
}

/** Offsets are into the text given to `readStatement`. */
export interface InsertShape {
  readonly format: string;
  /** End of `INSERT INTO t (columns)`. */
  readonly targetEnd: number;
  /** `SETTINGS ...` between target and format, or an empty range. */
  readonly settingsEnd: number;
  /** Where the rows begin. */
  readonly dataStart: number;
}

export interface Token {
  readonly text: string;
  /** Upper case, words only. */
  readonly word: string;
  readonly start: number;
  readonly end: number;
  /** Number of open parentheses around it. */
  readonly depth: number;
}

// Loops are unrolled (plain*, then escape plain*) so that long strings cost no backtracking.
const quotedPatterns = ["'", '"', '`'].map(
  (quote) =>
    `${quote}[^${quote}\\\\]*(?:(?:\\\\[\\s\\S]|${quote}${quote})[^${quote}\\\\]*)*${quote}`,
);
const commentPattern = '--[^\\n]*|#[ !][^\\n]*|\\/\\*[\\s\\S]*?\\*\\/';
const heredocPattern = '\\$(?<tag>\\w*)\\$[\\s\\S]*?\\$\\k<tag>\\$';
const lexemePattern = new RegExp(
  `(?<blank>\\s+|${commentPattern})|${heredocPattern}|${quotedPatterns.join('|')}|(?<word>[A-Za-z_]\\w*)|[\\s\\S]`,
  'gy',
);

/** Everything but blanks and comments. */
export function* tokensOf(text: string): Generator<Token> {
  let depth = 0;
  for (const match of text.matchAll(lexemePattern)) {
    if (match.groups?.['blank'] !== undefined) continue;
    const lexeme = match[0];
    if (lexeme === ')') depth -= 1;
    const word = match.groups?.['word']?.toUpperCase() ?? '';
    yield { text: lexeme, word, start: match.index, end: match.index + lexeme.length, depth };
    if (lexeme === '(') depth += 1;
  }
}

/** @param text one byte per character (latin1) where offsets must be byte offsets. */
export function readStatement(text: string): Statement {
  const tokens: Token[] = [];
  let ended = false;
  let hasSecondStatement = false;
  for (const token of tokensOf(text)) {
    if (ended && token.text !== ';') hasSecondStatement = true;
    if (hasSecondStatement) break;
    if (token.text === ';') ended = true;
    else tokens.push(token);
    const insert = insertShape(tokens, text);
    if (insert !== undefined) return { ...describe(tokens), insert, hasSecondStatement: false };
  }
  return { ...describe(tokens), insert: undefined, hasSecondStatement };
}

function describe(tokens: readonly Token[]): Omit<Statement, 'insert' | 'hasSecondStatement'> {
  const verb = tokens[0]?.word || (tokens[0]?.text ?? '');
  const format = outputFormat(tokens);
  return {
    verb,
    outputFormat: format?.name,
    outputFormatStart: format?.start,
    changesSession:
      verb === 'SET' || verb === 'USE' || (verb === 'CREATE' && tokens[1]?.word === 'TEMPORARY'),
    changesDatabases: verb !== 'CREATE' && tokens[1]?.word === 'DATABASE',
  };
}

/** `... FORMAT Name` at the end, or followed by SETTINGS. */
function outputFormat(
  tokens: readonly Token[],
): { readonly name: string; readonly start: number } | undefined {
  const index = tokens.findLastIndex((token) => token.word === 'FORMAT' && token.depth === 0);
  const after = tokens[index + 2];
  if (index < 0 || (after !== undefined && after.word !== 'SETTINGS')) return undefined;
  const name = tokens[index + 1];
  const start = tokens[index]?.start;
  if (name === undefined || name.word === '' || start === undefined) return undefined;
  return { name: name.text, start };
}

/** Whether the rows of an INSERT begin here, by the last tokens. */
function insertShape(tokens: readonly Token[], text: string): InsertShape | undefined {
  const last = tokens.at(-1);
  if (last === undefined || last.depth !== 0 || tokens[0]?.word !== 'INSERT') return undefined;
  if (tokens.some((token) => token.depth === 0 && isQueryWord(token))) return undefined;
  const isValues = last.word === 'VALUES' && tokens.length > 2;
  const isNamed =
    last.word !== '' && tokens.at(-2)?.word === 'FORMAT' && tokens.at(-2)?.depth === 0;
  if (!isValues && !isNamed) return undefined;
  const keyword = isValues ? last : tokens.at(-2);
  const settings = tokens.find((token) => token.depth === 0 && token.word === 'SETTINGS');
  const settingsEnd = keyword?.start ?? last.start;
  return {
    format: isValues ? 'Values' : last.text,
    targetEnd: settings?.start ?? settingsEnd,
    settingsEnd,
    dataStart: skipLineEnd(text, last.end),
  };
}

function isQueryWord(token: Token): boolean {
  return token.word === 'SELECT' || token.word === 'WITH' || token.word === 'FROM';
}

/**
 * Blanks up to and with the first line end belong to the statement; what follows is data, blanks
 * included.
 */
function skipLineEnd(text: string, from: number): number {
  let at = from;
  while (text[at] === ' ' || text[at] === '\t' || text[at] === '\r') at += 1;
  return text[at] === '\n' ? at + 1 : at;
}
