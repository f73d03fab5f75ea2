import { once } from 'node:events';
import { openOpsListener } from '@pm/kit/health';
import { openLog } from '@pm/kit/log';
import { openMetrics } from '@pm/kit/metrics';
import { readGatewayConfig } from './config.ts';
import { openGateway } from './gateway.ts';

/**
 * The gateway as a process: `node main.js PORT INGRESS_URLS QUERY_API_URLS STREAMS_URLS MCP_URL`; several URLs of one
 * service are separated by commas.
 */
const [port = '', ingress = '', queryApi = '', streams = '', mcp = ''] = process.argv.slice(2);
const services = {
  ingress: ingress.split(','),
  'query-api': queryApi.split(','),
  streams: streams.split(','),
  mcp,
};
const { trustedProxies, opsHost, opsPort } = readGatewayConfig();
const log = openLog('gateway', 'info');
const metrics = openMetrics('gateway');
const gateway = openGateway(services, { log, metrics, trustedProxies });
const ops = await openOpsListener({
  host: opsHost,
  port: opsPort,
  metrics,
  status: () => ({ services }),
  ready: () => {
    const isListening = gateway.server.listening;
    return { ready: isListening, reasons: isListening ? [] : ['http'] };
  },
});
await gateway.listen({ host: '127.0.0.1', port: Number(port) });

process.stdin.resume();
await Promise.race([once(process, 'SIGTERM'), once(process, 'SIGINT'), once(process.stdin, 'end')]);
await gateway.close();
await ops.close();
process.exit(0);
