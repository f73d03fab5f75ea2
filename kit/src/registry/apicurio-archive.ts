import { createHash } from 'node:crypto';
import type { ListedSchema } from '@pm/schemas/log/service-keys';
import { strToU8, zipSync } from 'fflate';

interface Subject extends ListedSchema {
  readonly subject: string;
}

/**
 * An archive that Apicurio Registry imports: schemas under their ids, as versions of their subjects after those that
 * are there. The form is that of its own export (`/apis/registry/v3/admin/export`), version 3.0.
 */
export function importArchive(
  schemas: readonly Subject[],
  there: ReadonlyMap<string, readonly number[]>,
): Uint8Array<ArrayBuffer> {
  const versions = new Map<string, number[]>();
  const files = new Map<string, string>([['exchange.Manifest.json', manifest]]);
  for (const { subject, schemaId, schema } of schemas) {
    const known = versions.get(subject) ?? [...(there.get(subject) ?? [])];
    const version = Math.max(0, ...known) + 1;
    versions.set(subject, [...known, version]);
    const hash = createHash('sha256').update(schema).digest('hex');
    files.set(`content/${hash}.Content.data`, schema);
    files.set(`content/${hash}.Content.json`, contentOf(schemaId, hash));
    const folder = `groups/default/artifacts/${encodeURIComponent(subject)}`;
    files.set(`${folder}/MetaData.Artifact.json`, artifactOf(subject));
    const entry = versionOf({ subject, version, schemaId });
    files.set(`${folder}/versions/${version}.ArtifactVersion.json`, entry);
    const branch = branchOf(subject, versions.get(subject) ?? []);
    files.set(`${folder}/branches/latest.Branch.json`, branch);
  }
  return zipSync(Object.fromEntries([...files].map(([name, text]) => [name, strToU8(text)])));
}

/** Times of an archive: a fixed one, so that the same schemas make the same archive. */
const createdOn = 0;
const owned = { owner: '', createdOn, modifiedBy: '', modifiedOn: createdOn };

const manifest = JSON.stringify({
  systemVersion: '3.0.9',
  systemName: 'Apicurio Registry',
  systemDescription: '',
  exportVersion: '3.0',
  exportedOn: createdOn,
  exportedBy: '',
  dbVersion: '101',
});

function contentOf(contentId: number, contentHash: string): string {
  const contentType = 'application/json';
  return JSON.stringify({ contentId, canonicalHash: contentHash, contentHash, contentType });
}

function artifactOf(artifactId: string): string {
  return JSON.stringify({ groupId: null, artifactId, artifactType: 'AVRO', ...owned });
}

function versionOf(one: { subject: string; version: number; schemaId: number }): string {
  return JSON.stringify({
    globalId: one.schemaId,
    groupId: null,
    artifactId: one.subject,
    version: String(one.version),
    versionOrder: one.version,
    state: 'ENABLED',
    contentId: one.schemaId,
    ...owned,
  });
}

function branchOf(artifactId: string, versions: readonly number[]): string {
  return JSON.stringify({
    groupId: null,
    artifactId,
    branchId: 'latest',
    systemDefined: true,
    versions: versions.map(String),
    ...owned,
  });
}
