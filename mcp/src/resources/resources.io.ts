import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import type { McpServer } from '@modelcontextprotocol/server';
import type { Session } from '../server/session.io.ts';

/** Pages of this package, written by `npm run docs` out of the documents of the repository. */
const documents = [
  {
    name: 'rules',
    title: 'Rules of orders',
    description: 'Amounts, ticks, time in force, results, cancels, delay, self-trade.',
  },
  {
    name: 'fees',
    title: 'Fees',
    description: 'Who pays, how much, and how it is rounded.',
  },
  {
    name: 'limits',
    title: 'Limits',
    description: 'How many requests a client may send, and bounds of input.',
  },
  {
    name: 'glossary',
    title: 'Glossary',
    description: 'The words of the exchange, each in one sentence.',
  },
] as const;

const folder = fileURLToPath(new URL('../../documents/', import.meta.url));

/** Rules, fees, limits and glossary of this package; the OpenAPI description of the exchange itself. */
export function addResources(server: McpServer, { exchange }: Session): void {
  for (const { name, title, description } of documents) {
    const mimeType = 'text/markdown';
    server.registerResource(
      name,
      `exchange://${name}`,
      { title, description, mimeType },
      async (uri) => {
        const text = await readFile(`${folder}${name}.md`, 'utf8');
        return { contents: [{ uri: uri.href, mimeType, text }] };
      },
    );
  }
  const mimeType = 'application/json';
  server.registerResource(
    'openapi',
    'exchange://openapi',
    {
      title: 'OpenAPI description',
      description: 'Every public route of the exchange (OpenAPI 3.1, about a megabyte).',
      mimeType,
    },
    async (uri) => {
      const text = JSON.stringify(await exchange.get('getOpenApi'));
      return { contents: [{ uri: uri.href, mimeType, text }] };
    },
  );
}
