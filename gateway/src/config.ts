import {
  type ConfigOf,
  drainFields,
  engineVariables,
  type Field,
  list,
  publicHttpFields,
  readConfig,
  serviceFields,
  traceFields,
} from '@pm/kit/config';

/** Connections are pooled by origin. */
const originPattern = /^https?:\/\/[^\s,/?#@]{1,200}$/;

/** Base URLs of the processes of a service, without a path. */
function processUrls(
  name: string,
  options: {
    readonly meaning: string;
    readonly max?: number;
    readonly default?: readonly string[];
  },
): Field<readonly string[]> {
  const { max = 100 } = options;
  const urls = list(name, { ...options, max, pattern: originPattern });
  const form = 'such as `http://host:port`, without a path';
  return {
    ...urls,
    allowed:
      max === 1 ? `a URL ${form}` : `1 to ${max} different URLs ${form}, separated by commas`,
    parse: (given) => {
      const parsed = urls.parse(given);
      const isSound =
        parsed !== null && 'value' in parsed && parsed.value.every((url) => URL.canParse(url));
      return isSound ? parsed : null;
    },
  };
}

/** Variables of the gateway; the configuration reference is made of them. */
export const gatewayFields = {
  ...serviceFields,
  ...traceFields,
  host: publicHttpFields.host,
  httpPort: publicHttpFields.httpPort,
  trustedProxies: publicHttpFields.trustedProxies,
  connectionsPerAddress: publicHttpFields.connectionsPerAddress,
  ...drainFields,
  ingressUrls: processUrls('PM_INGRESS_URL', {
    meaning: 'Base URLs of all processes of ingress, which the gateway forwards to.',
  }),
  queryApiUrls: processUrls('PM_QUERY_API_URL', {
    meaning: 'Base URLs of all processes of query-api, which the gateway forwards to.',
  }),
  streamsUrls: processUrls('PM_STREAMS_URL', {
    meaning:
      'Base URLs of all processes of streams, which the gateway forwards to; without one it refuses streams.',
    default: [],
  }),
  mcpUrl: processUrls('PM_MCP_URL', {
    meaning: 'Base URL of the MCP server; without it there is no `/mcp`.',
    max: 1,
    default: [],
  }),
};

/** Reads the environment. Throws the `Fault` `invalid_config` (stop). */
export function readGatewayConfig(
  env?: Readonly<Record<string, string | undefined>>,
): ConfigOf<typeof gatewayFields> {
  return readConfig(gatewayFields, env, { known: engineVariables });
}
