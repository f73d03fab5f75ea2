import {
  type ConfigOf,
  drainFields,
  engineVariables,
  list,
  namesOf,
  publicHttpFields,
  readConfig,
  serviceFields,
  traceFields,
  url,
} from '@pm/kit/config';

/** Variables of the MCP server over HTTP; the configuration reference is made of them. */
export const mcpFields = {
  ...serviceFields,
  ...drainFields,
  host: publicHttpFields.host,
  httpPort: publicHttpFields.httpPort,
  trustedProxies: publicHttpFields.trustedProxies,
  connectionsPerAddress: publicHttpFields.connectionsPerAddress,
  exchangeUrl: url('PM_EXCHANGE_URL', {
    meaning:
      'Where the MCP server finds the exchange: its base URL, or query-api itself, which then knows each caller by address.',
    default: 'http://127.0.0.1:8080',
  }),
  origins: list('PM_MCP_ORIGINS', {
    meaning:
      'Host names whose web pages may call `/mcp`; programs send no `Origin` and always may.',
    default: ['localhost', '127.0.0.1', '[::1]'],
    pattern: /^(\[[0-9a-f:]+\]|[a-z0-9.-]+)$/,
  }),
};

export type McpConfig = ConfigOf<typeof mcpFields>;

/** Reads the environment. Throws one `Fault` `invalid_config` (stop) that names every wrong setting. */
export function readMcpConfig(): McpConfig {
  return readConfig(mcpFields, undefined, { known: [...engineVariables, ...namesOf(traceFields)] });
}
