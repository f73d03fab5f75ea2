import { once } from 'node:events';
import { readParentPipe } from '@pm/kit/config';
import { openOpsListener } from '@pm/kit/health';
import { openLog } from '@pm/kit/log';
import { openMetrics } from '@pm/kit/metrics';
import { openTraces } from '@pm/kit/traces';
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
const config = readGatewayConfig();
const { host, trustedProxies, connectionsPerAddress, opsHost, opsPort } = config;
const log = openLog('gateway', 'info');
const metrics = openMetrics('gateway');
let closeTraces = async () => {};
const traces = await openTraces(config, {
  service: 'gateway',
  metrics,
  life: {
    onStop: (_name, close) => {
      closeTraces = async () => await close();
    },
  },
});
const options = { log, metrics, traces, trustedProxies, connectionsPerAddress };
const gateway = openGateway(services, options);
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
await gateway.listen({ host, port: Number(port) });

const ends = [once(process, 'SIGTERM'), once(process, 'SIGINT')];
if (readParentPipe()) ends.push(once(process.stdin.resume(), 'end'));
await Promise.race(ends);
await gateway.close();
await ops.close();
await closeTraces();
process.exit(0);
