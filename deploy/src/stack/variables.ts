import { defaultFeeWallet } from '@pm/domain/accounts/reserved-addresses';
import { signingFields } from '@pm/domain/accounts/signing-fields.io';
import {
  backupFields,
  clickhouseFields,
  type Field,
  integer,
  kafkaFields,
  oneOf,
  path,
  publicHttpFields,
  redisCacheFields,
  redisFields,
  registryFields,
  replicationMinField,
  rootKeyFields,
  secondPersonFields,
  storeFields,
  text,
  traceFields,
} from '@pm/kit/config';
import { type PortName, portsFromEnvironment, portVariable } from '../local/ports.ts';
import { partitionsField } from '../setup/partition-count.ts';
import { heapFields } from './heaps.ts';
import { modes } from './mode.ts';

const listeners: Readonly<Record<PortName, string>> = {
  kafka: 'the local Kafka broker',
  kafkaController: "the local broker's controller",
  kafka2: 'the second local broker, with `--brokers 3`',
  kafka2Controller: 'its controller',
  kafka3: 'the third local broker, with `--brokers 3`',
  kafka3Controller: 'its controller',
  registry: 'the local schema registry',
  clickhouse: 'the local ClickHouse',
  redis: 'the local Redis',
  gateway: 'the base URL (also `--port`)',
  ingress: 'the public listener of ingress',
  operator: "the operator's listener",
  ingressOps: 'health and metrics of ingress',
  matcherOps: 'health and metrics of the matcher',
  projectorsOps: 'health and metrics of the projectors',
  queryApi: 'the public listener of query-api',
  queryApiOps: 'health and metrics of query-api',
  streams: 'the public listener of streams',
  streamsOps: 'health and metrics of streams',
  mcp: 'the MCP server',
  mcpOps: 'health and metrics of the MCP server',
  operatorOps: "health and metrics of the operator's process",
  gatewayOps: 'health and metrics of the gateway',
};

function portField([name, port]: readonly [string, number]): Field<number> {
  return integer(portVariable(name as PortName), {
    meaning: `Port of ${listeners[name as PortName]}.`,
    unit: 'port',
    min: 1,
    max: 65_535,
    default: port,
  });
}

/**
 * Variables of `npm start`, `npm run stack` and the tools beside them, as the configuration reference shows them. The
 * commands read them one by one, since options of the command line come first; a test compares the names with the
 * sources.
 */
export const stackFields: readonly Field<unknown>[] = [
  oneOf('STACK', modes, {
    meaning:
      'Engines: started here, as processes or in containers (containers.md), or the ones that `PM_KAFKA_BROKERS`, `PM_REGISTRY_URL`, `PM_CLICKHOUSE_URL` and `PM_REDIS_URL` name, under the names and with the sign-in of the other variables of engines.',
    default: 'local',
  }),
  replicationMinField,
  partitionsField,
  path('PM_DATA', {
    meaning: 'Data folder of the local stack: engines, keys, snapshots (also `--data`).',
    default: 'data',
  }),
  text('PM_FEE_WALLET', {
    meaning:
      'Wallet that fees are paid to; written into the first record of each partition and final (also `--fee-wallet`).',
    default: defaultFeeWallet,
    allowed: '0x and 40 hex digits',
  }),
  ...heapFields,
  signingFields.signingDomain,
  { ...signingFields.familyDomains, fallback: { value: false, shown: '1 with the demo, else 0' } },
  oneOf('PM_REDIS', ['auto', 'bundled'], {
    meaning:
      'Local Redis: `redis-server` on the PATH if it is new enough, or always the bundled one.',
    default: 'auto',
  }),
  publicHttpFields.trustedProxies,
  publicHttpFields.connectionsPerAddress,
  text('PM_OPERATOR_TOKEN', {
    meaning: "Token of the operator's listener for `--url` of `catalog` and `wallets`.",
    default: '',
    secret: true,
  }),
  ...Object.values(traceFields),
  ...Object.values(secondPersonFields),
  ...Object.entries(portsFromEnvironment({})).map(portField),
];

/** Variables of `npm run audit`, `rebuild`, `preflight` and the others; needed only where no local stack runs. */
export const toolFields: readonly Field<unknown>[] = Object.values({
  ...kafkaFields,
  ...rootKeyFields,
  ...registryFields,
  ...redisFields,
  ...redisCacheFields,
  ...clickhouseFields,
  ...storeFields,
  ...backupFields,
});
