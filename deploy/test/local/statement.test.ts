import { type InsertShape, readStatement } from '../../src/local/clickhouse-front/statement.ts';

/** The three parts the front takes an INSERT apart into. */
function parts(text: string): { target: string; settings: string; format: string; rows: string } {
  const insert = readStatement(text).insert as InsertShape;
  return {
    target: text.slice(0, insert.targetEnd).trim(),
    settings: text.slice(insert.targetEnd, insert.settingsEnd).trim(),
    format: insert.format,
    rows: text.slice(insert.dataStart),
  };
}

describe('readStatement', () => {
  it('takes an INSERT apart', () => {
    expect(
      parts("INSERT INTO pm.t (a, b) SETTINGS x='FORMAT; y' FORMAT CSV\n1,2\n;\n\nDROP TABLE t"),
    ).toEqual({
      target: 'INSERT INTO pm.t (a, b)',
      settings: "SETTINGS x='FORMAT; y'",
      format: 'CSV',
      rows: '1,2\n;\n\nDROP TABLE t',
    });
  });

  it('keeps blanks that belong to the rows', () => {
    expect(parts('insert into t format TabSeparated \r\n\ta\n').rows).toBe('\ta\n');
  });

  it('takes VALUES for a format', () => {
    expect(parts("INSERT INTO t (values, format) VALUES (1, 'a;b')")).toMatchObject({
      target: 'INSERT INTO t (values, format)',
      format: 'Values',
      rows: "(1, 'a;b')",
    });
  });

  it.each([
    'INSERT INTO t SELECT format FROM s FORMAT CSV',
    'INSERT INTO t WITH 1 AS x SELECT x',
    "SELECT 'INSERT INTO t FORMAT CSV'",
    'INSERT INTO t',
  ])('finds no rows in %s', (text) => {
    expect(readStatement(text).insert).toBeUndefined();
  });

  it.each([
    ['SELECT 1; DROP TABLE t', true],
    ['SELECT 1;;  -- done\n /* ; x */ ;', false],
    ["SELECT ';', \"a;b\", `c;d`, 'it''s; \\'; x', $tag$ ; $tag$ -- ; DROP", false],
    ["SELECT 'a\\\\'; DROP TABLE t", true],
    ['SELECT 1 /* ; */ # ;\n', false],
    ["SELECT 'open; DROP TABLE t", true],
  ])('sees whether a second statement follows in %s', (text, expected) => {
    expect(readStatement(text).hasSecondStatement).toBe(expected);
  });

  it('finds where the format of a result begins, not one inside', () => {
    const text = "SELECT 'FORMAT CSV', (SELECT 1 FORMAT JSON) FORMAT Parquet SETTINGS a=1";
    expect(text.slice(readStatement(text).outputFormatStart)).toBe('FORMAT Parquet SETTINGS a=1');
    expect(readStatement('SELECT 1').outputFormatStart).toBeUndefined();
  });

  it('names the format of an answer', () => {
    expect(readStatement('SELECT 1 FORMAT JSON').outputFormat).toBe('JSON');
    expect(readStatement('SELECT 1 FORMAT JSON SETTINGS a=1;').outputFormat).toBe('JSON');
    expect(readStatement('SELECT (SELECT 1 FORMAT JSON)').outputFormat).toBeUndefined();
    expect(readStatement("SELECT format('{}', 1) AS format FROM t").outputFormat).toBeUndefined();
  });

  it('knows what changes a session', () => {
    expect(readStatement(' /* x */ set max_threads = 1').changesSession).toBe(true);
    expect(readStatement('CREATE TEMPORARY TABLE t (a Int8)').changesSession).toBe(true);
    expect(readStatement('CREATE TABLE t (a Int8)').changesSession).toBe(false);
    expect(readStatement('rename database a TO b').changesDatabases).toBe(true);
    expect(readStatement('CREATE DATABASE a').changesDatabases).toBe(false);
  });

  it('reads a long string without trouble', () => {
    const text = `SELECT '${"x\\'y".repeat(300_000)}'`;
    expect(readStatement(text)).toMatchObject({ verb: 'SELECT', hasSecondStatement: false });
  });
});
