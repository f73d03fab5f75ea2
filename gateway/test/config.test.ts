import { readGatewayConfig } from '../src/config.ts';

const variables = {
  PM_HTTP_PORT: '8080',
  PM_OPS_PORT: '0',
  PM_INGRESS_URL: 'http://ingress:18001,http://ingress-2:18001',
  PM_QUERY_API_URL: 'http://query-api:18006',
};

/** The problems of a configuration by variable. */
function problemsOf(env: Readonly<Record<string, string>>): unknown {
  try {
    readGatewayConfig(env);
    return null;
  } catch (error) {
    return Reflect.get(error as object, 'facts');
  }
}

test('the gateway forwards to several processes; streams and the MCP server may be missing', () => {
  expect(readGatewayConfig(variables)).toMatchObject({
    host: '127.0.0.1',
    httpPort: 8080,
    ingressUrls: ['http://ingress:18001', 'http://ingress-2:18001'],
    queryApiUrls: ['http://query-api:18006'],
    streamsUrls: [],
    mcpUrl: [],
  });
});

test('a URL that no connection can be made to is refused with the other problems', () => {
  const problems = problemsOf({
    PM_OPS_PORT: '0',
    PM_INGRESS_URL: 'http://ingress:18001/path',
    PM_QUERY_API_URL: 'http://query-api:99999',
    PM_MCP_URL: 'http://mcp:1,http://mcp:2',
    PM_MISSPELT: '1',
  });
  expect(problems).toEqual({
    PM_HTTP_PORT: expect.stringContaining('missing'),
    PM_INGRESS_URL: expect.stringContaining('allowed: 1 to 100 different URLs'),
    PM_QUERY_API_URL: expect.stringContaining('allowed: 1 to 100 different URLs'),
    PM_MCP_URL: expect.stringContaining(
      'allowed: a URL such as `http://host:port`, without a path',
    ),
    PM_MISSPELT: expect.stringContaining('unknown'),
  });
});

test('a Service of Kubernetes and variables of engines in its environment do not stop the gateway', () => {
  const links = {
    PM_GATEWAY_SERVICE_HOST: '10.0.0.1',
    PM_GATEWAY_PORT: 'tcp://10.0.0.1:8080',
    PM_KAFKA_BROKERS: 'kafka:9092',
  };
  expect(problemsOf({ ...variables, ...links })).toBeNull();
});
