import { openHttp } from '@pm/kit/http';
import { type Lifecycle, runService } from '@pm/kit/lifecycle';
import { openLog } from '@pm/kit/log';
import { openMetrics } from '@pm/kit/metrics';
import { bodyMaxBytes } from '@pm/schemas/routes/route';
import { readMcpConfig } from './config.ts';
import { addMcpRoute } from './http/mcp.route.ts';

const name = 'mcp';

/** The MCP server over HTTP. It needs the exchange only when it is called, so that it is ready at once. */
async function start(life: Lifecycle): Promise<void> {
  const config = readMcpConfig();
  const log = openLog(name, config.logLevel);
  life.useLog(log);
  const metrics = openMetrics(name);
  const operations = await life.operations({ ...config, metrics });
  const { trustedProxies, connectionsPerAddress, exchangeUrl, origins, host } = config;
  const bounds = { trustedProxies, connectionsPerAddress, bodyLimitBytes: bodyMaxBytes.mcp };
  const app = openHttp({ log, metrics, ...bounds });
  const route = addMcpRoute(app, { exchangeUrl, origins, log });
  await app.listen({ host, port: config.httpPort });
  life.onStop('http', () => app.close());
  // Open streams end first: the listener closes when its connections have.
  life.onStop('mcp', () => route.close());
  // A missing response of the exchange is reported to the agent, and is no reason not to be ready.
  operations.report({
    status: () => ({ exchangeUrl, running: route.running() }),
    ready: () => ({ ready: true, reasons: [] }),
    serving: () => ({ serving: true, reasons: [] }),
  });
}

await runService(name, start);
