import { type Lifecycle, runService } from '@pm/kit/lifecycle';
import { openLog } from '@pm/kit/log';
import { openMetrics } from '@pm/kit/metrics';
import { openTraces } from '@pm/kit/traces';
import { readGatewayConfig } from './config.ts';
import { type GatewayServices, openGateway } from './gateway.ts';

const name = 'gateway';

/** Time limit of the requests and streams that are left at the end, milliseconds. */
const closeMs = 8_000;

/** The gateway as a process. It needs the services only when it is called, so that it is ready at once. */
async function start(life: Lifecycle): Promise<void> {
  const config = readGatewayConfig();
  const log = openLog(name, config.logLevel);
  life.useLog(log);
  const metrics = openMetrics(name);
  const operations = await life.operations({ ...config, metrics });
  const traces = await openTraces(config, { service: name, metrics, life });
  const services = servicesIn(config);
  const { trustedProxies, connectionsPerAddress } = config;
  const gateway = openGateway(services, {
    log,
    metrics,
    traces,
    trustedProxies,
    connectionsPerAddress,
    letLeave: (ends) => life.letLeave(ends),
  });
  await gateway.listen({ host: config.host, port: config.httpPort });
  life.onStop('http', () => gateway.close(), closeMs);
  operations.report({
    status: () => ({ services }),
    ready: () => ({ ready: true, reasons: [] }),
    // It says itself what it cannot forward: taken out, it would never find that a service is back.
    serving: () => ({ serving: true, reasons: gateway.away() }),
  });
}

function servicesIn(config: ReturnType<typeof readGatewayConfig>): GatewayServices {
  const { streamsUrls: streams } = config;
  const [mcp] = config.mcpUrl;
  return {
    ingress: config.ingressUrls,
    'query-api': config.queryApiUrls,
    ...(streams.length === 0 ? {} : { streams }),
    ...(mcp === undefined ? {} : { mcp }),
  };
}

await runService(name, start);
