import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { repositoryRoot } from '@pm/deploy/local/paths';
import {
  beginPackage,
  bundle,
  dependenciesOf,
  manifestOf,
  type PackageOrigin,
  publishFields,
} from './package-folder.ts';

/** Packages that the bundle imports. */
const runtimePackages = [
  '@modelcontextprotocol/server',
  '@noble/curves',
  '@noble/hashes',
  'typebox',
  'ws',
] as const;

/** The program; the pages that it serves as resources are in `documents`, two folders up. */
const program = 'dist/stdio/serve.js';

/**
 * Writes the package of the MCP server over stdio into an empty folder: one program with what it uses of the client,
 * the platform and the contracts, its pages, README, license. Needs built rooms.
 */
export async function writeMcpPackage(folder: string, origin: PackageOrigin): Promise<void> {
  const manifest = mcpManifest(origin);
  beginPackage(folder, 'mcp', manifest);
  await bundle('mcp/dist/stdio/serve.io.js', join(folder, program), manifest.dependencies);
  const documents = join(repositoryRoot, 'mcp', 'documents');
  cpSync(documents, join(folder, 'documents'), { recursive: true });
}

/** `package.json` of the package: a program and nothing to import. */
export function mcpManifest(origin: PackageOrigin) {
  const mcp = manifestOf('mcp');
  const rooms = [manifestOf('schemas'), manifestOf('client'), mcp];
  return {
    name: 'prediction-exchange-mcp',
    version: mcp.version,
    description:
      'MCP server of an open prediction-market exchange: markets, books and, within limits, orders.',
    keywords: ['mcp', 'model-context-protocol', 'prediction-market', 'exchange'],
    license: mcp.license,
    ...publishFields('mcp', origin),
    bin: { 'prediction-exchange-mcp': program },
    files: ['dist', 'documents'],
    dependencies: dependenciesOf(runtimePackages, rooms),
  };
}
