import { writeFileSync } from 'node:fs';

/**
 * Rights of statements. None of them reads or writes a file, or connects to anything (no FILE, URL, REMOTE, S3 ..., no
 * dictionaries, no named collections, no SYSTEM). The engine checks them after it has parsed a statement, wherever a
 * table function, an engine of tables or a database of files is named. Rows of an INSERT and results in Parquet pass
 * through files of the front all the same: these are statements of a client (FROM INFILE, INTO OUTFILE), which only the
 * front writes.
 */
const rights = [
  'SELECT',
  'INSERT',
  'ALTER',
  'CREATE DATABASE',
  'CREATE TABLE',
  'CREATE VIEW',
  'CREATE TEMPORARY TABLE',
  'DROP',
  'UNDROP TABLE',
  'TRUNCATE',
  'OPTIMIZE',
  'SHOW',
  'KILL QUERY',
] as const;

/**
 * Writes the configuration of the engine beside its data: the rights of its only user, and an empty folder for what
 * else statements may name by a path. Returns the argument that names it to the engine.
 */
export function configureEngine(dataDir: string, emptyDir: string): string {
  const file = `${dataDir}-configuration.xml`;
  const [path, empty] = [xmlText(file), xmlText(`${emptyDir}/`)];
  writeFileSync(
    file,
    `<clickhouse>
<profiles><default/></profiles>
<quotas><default/></quotas>
<users><default><password/><networks><ip>127.0.0.1</ip><ip>::1</ip></networks>
  <profile>default</profile><quota>default</quota>
  <grants><query>GRANT ${rights.join(', ')} ON *.*</query></grants></default></users>
<user_directories><users_xml><path>${path}</path></users_xml></user_directories>
<user_files_path>${empty}</user_files_path>
<user_scripts_path>${empty}</user_scripts_path>
<format_schema_path>${empty}</format_schema_path>
<dictionaries_lib_path>${empty}</dictionaries_lib_path>
</clickhouse>
`,
    { mode: 0o600 },
  );
  return `--config-file=${file}`;
}

function xmlText(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
}
