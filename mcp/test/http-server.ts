import type { AddressInfo } from 'node:net';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { type HttpApp, openHttp } from '@pm/kit/http';
import { silentLog } from '@pm/kit/log';
import { bodyMaxBytes } from '@pm/schemas/routes/route';
import { addMcpRoute, type McpRoute } from '../src/http/mcp.route.ts';

/** The MCP server over HTTP, listening on a free port. */
export interface HttpServerUnderTest {
  readonly app: HttpApp;
  readonly route: McpRoute;
  readonly url: string;
  close(): Promise<void>;
}

export async function openHttpServer(exchangeUrl: string): Promise<HttpServerUnderTest> {
  const trustedProxies = ['127.0.0.1'];
  const app = openHttp({ log: silentLog, bodyLimitBytes: bodyMaxBytes.mcp, trustedProxies });
  const origins = ['localhost', '127.0.0.1'];
  const route = addMcpRoute(app, { exchangeUrl, origins, log: silentLog });
  await app.listen({ host: '127.0.0.1', port: 0 });
  const { port } = app.server.address() as AddressInfo;
  return {
    app,
    route,
    url: `http://127.0.0.1:${port}/mcp`,
    close: async () => {
      await route.close();
      app.server.closeAllConnections();
      await app.close();
    },
  };
}

/** Revisions of the protocol: that of 2025 with its handshake, and that of 2026 without. */
export const eras = ['legacy', 'auto'] as const;

/** A client of the official SDK, connected. */
export async function connectHttp(
  url: string,
  {
    era = 'auto',
    headers = {},
  }: { readonly era?: (typeof eras)[number]; readonly headers?: Record<string, string> } = {},
): Promise<Client> {
  const client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode: era } });
  const transport = new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } });
  await client.connect(transport);
  return client;
}
