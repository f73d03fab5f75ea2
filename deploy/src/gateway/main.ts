import { once } from 'node:events';
import { openLog } from '@pm/kit/log';
import { readGatewayConfig } from './config.ts';
import { openGateway } from './gateway.ts';

/** The gateway as a process: `node main.js PORT INGRESS_URL QUERY_API_URL STREAMS_URL MCP_URL`. */
const [port = '', ingress = '', queryApi = '', streams = '', mcp = ''] = process.argv.slice(2);
const services = { ingress, 'query-api': queryApi, streams, mcp };
const { trustedProxies } = readGatewayConfig();
const gateway = openGateway(services, { log: openLog('gateway', 'info'), trustedProxies });
await gateway.listen({ host: '127.0.0.1', port: Number(port) });

process.stdin.resume();
await Promise.race([once(process, 'SIGTERM'), once(process, 'SIGINT'), once(process.stdin, 'end')]);
await gateway.close();
process.exit(0);
