import { openOpsListener } from '@pm/kit/health';
import { type Lifecycle, runService } from '@pm/kit/lifecycle';
import { openLog } from '@pm/kit/log';
import { openMetrics } from '@pm/kit/metrics';
import { openTraces } from '@pm/kit/traces';
import { readGatewayConfig } from './config.ts';
import { type GatewayServices, openGateway } from './gateway.ts';

const name = 'gateway';

/** The gateway as a process. It needs the services only when it is called, so that it is ready at once. */
async function start(life: Lifecycle): Promise<void> {
  const config = readGatewayConfig();
  const log = openLog(name, config.logLevel);
  life.useLog(log);
  const metrics = openMetrics(name);
  const traces = await openTraces(config, { service: name, metrics, life });
  const services = servicesIn(config);
  const { trustedProxies, connectionsPerAddress } = config;
  const options = { log, metrics, traces, trustedProxies, connectionsPerAddress };
  const gateway = openGateway(services, options);
  const ops = await openOpsListener({
    host: config.opsHost,
    port: config.opsPort,
    metrics,
    status: () => ({ services }),
    ready: () => {
      const isListening = gateway.server.listening;
      return { ready: isListening, reasons: isListening ? [] : ['http'] };
    },
  });
  life.onStop('ops listener', () => ops.close());
  await gateway.listen({ host: config.host, port: config.httpPort });
  life.onStop('http', () => gateway.close());
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
