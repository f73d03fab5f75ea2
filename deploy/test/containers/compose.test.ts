import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { folders, native, programs, threads } from '../../programs.mjs';
import { kafkaVariable } from '../../src/containers/engine-containers.ts';
import { kafkaSettings } from '../../src/local/engines/kafka-settings.ts';
import { repositoryRoot } from '../../src/local/paths.ts';
import { defaultPorts } from '../../src/local/ports.ts';
import { serviceSecrets } from '../../src/setup/service-secrets.ts';

interface Service {
  readonly image: string;
  readonly profiles: readonly string[];
  readonly command?: readonly string[];
  readonly entrypoint?: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  readonly ports?: readonly string[];
  readonly volumes?: readonly string[];
  readonly restart?: string;
  readonly stop_grace_period?: string;
  readonly healthcheck?: { readonly disable?: boolean; readonly test?: readonly string[] };
  /** A list where the address does not matter. */
  readonly networks: { readonly exchange?: { readonly ipv4_address: string } };
}

interface Compose {
  readonly services: Readonly<Record<string, Service>>;
  readonly volumes: Readonly<Record<string, unknown>>;
  readonly networks: Readonly<
    Record<string, { readonly ipam: { readonly config: readonly unknown[] } }>
  >;
}

const textOf = (path: string) => readFileSync(join(repositoryRoot, path), 'utf8');
const compose = parse(textOf('compose.yaml'), { merge: true }) as Compose;
const services = Object.entries(compose.services);
const ownServices = services.filter(([, { image }]) => image.includes('EXCHANGE_IMAGE'));
const engineServices = services.filter(([, { image }]) => !image.includes('EXCHANGE_IMAGE'));
const programOf = ({ command, entrypoint }: Service) => entrypoint?.at(-1) ?? command?.[0] ?? '';

test('the containers run every program of the image, and no other', () => {
  const run = new Set(ownServices.map(([, service]) => programOf(service)));
  expect([...run].sort()).toEqual(Object.keys(programs).sort());
});

test('public images have a version', () => {
  for (const [name, { image }] of engineServices)
    expect([name, image]).toEqual([name, expect.stringMatching(/^[\w./-]+:v?\d+\.\d+[\w.-]*$/)]);
});

test('each container is started again unless it runs once, and has a limit for its stop', () => {
  for (const [name, { restart, stop_grace_period: grace }] of services) {
    const isOnce = name.startsWith('setup-') || name === 'tools';
    expect([name, restart, grace]).toEqual([
      name,
      isOnce ? 'no' : 'unless-stopped',
      expect.stringMatching(/^\d+s$/),
    ]);
  }
});

test('each container has a health check but the set-ups, the tools and the demo, which have no listener', () => {
  const without = services.filter(([, { healthcheck }]) => healthcheck?.disable === true);
  expect(without.map(([name]) => name).sort()).toEqual([
    'demo',
    'setup-demo',
    'setup-engines',
    'setup-exchange',
    'tools',
  ]);
  for (const [name, { healthcheck }] of engineServices)
    expect([name, healthcheck?.test?.[0]]).toEqual([name, 'CMD']);
  expect(textOf('Dockerfile')).toContain('CMD ["bash", "/exchange/serving.sh"]');
});

test('no two containers publish one port, and each listens where the local stack does', () => {
  const published = services.flatMap(([, { ports = [] }]) => ports);
  expect(new Set(published).size).toBe(published.length);
  const opsPorts: Readonly<Record<string, number>> = {
    ingress: defaultPorts.ingressOps,
    operator: defaultPorts.operatorOps,
    matcher: defaultPorts.matcherOps,
    projectors: defaultPorts.projectorsOps,
    'query-api': defaultPorts.queryApiOps,
    streams: defaultPorts.streamsOps,
    mcp: defaultPorts.mcpOps,
    gateway: defaultPorts.gatewayOps,
  };
  const httpPorts: Readonly<Record<string, number>> = {
    ingress: defaultPorts.ingress,
    'query-api': defaultPorts.queryApi,
    streams: defaultPorts.streams,
    mcp: defaultPorts.mcp,
    gateway: defaultPorts.gateway,
  };
  for (const [name, service] of ownServices) {
    const program = programOf(service);
    const { PM_OPS_PORT: ops, PM_HTTP_PORT: http } = service.environment ?? {};
    const found = [ops, http].map((port) => (port === undefined ? undefined : Number(port)));
    expect([name, ...found]).toEqual([name, opsPorts[program], httpPorts[program]]);
  }
});

test('the gateway forwards to the ports where the services listen', () => {
  const forwarded = {
    ingress: 'PM_INGRESS_URL',
    'query-api': 'PM_QUERY_API_URL',
    streams: 'PM_STREAMS_URL',
    mcp: 'PM_MCP_URL',
  };
  const { environment = {} } = compose.services['gateway'] ?? {};
  for (const [name, variable] of Object.entries(forwarded)) {
    const port = compose.services[name]?.environment?.['PM_HTTP_PORT'];
    expect([variable, environment[variable]]).toEqual([variable, `http://${name}:${port}`]);
  }
});

test('names of topics, keys and tables reach each container that has some, and those of ClickHouse its accounts', () => {
  const withOf = (variable: string) =>
    services
      .filter(([, { environment = {} }]) => environment[variable] === `\${${variable}:-}`)
      .map(([name]) => name);
  const access = (variable: string) =>
    ownServices.flatMap(([name, { environment = {} }]) => (variable in environment ? [name] : []));
  expect(withOf('PM_TOPIC_PREFIX')).toEqual(access('PM_KAFKA_BROKERS'));
  expect(withOf('PM_REDIS_PREFIX')).toEqual(access('PM_REDIS_URL'));
  const ofTables = ['setup-engines', ...access('PM_CLICKHOUSE_URL')];
  expect(withOf('PM_CLICKHOUSE_DATABASE')).toEqual(ofTables);
});

test('the operator takes requests under each name that a container calls it by', () => {
  const named = services.flatMap(([, { command = [] }]) =>
    command.flatMap((text) => /^http:\/\/([^:]+):18002$/.exec(text)?.[1] ?? []),
  );
  const names = compose.services['operator']?.environment?.['PM_OPERATOR_NAMES'];
  const [, byDefault] = /^\$\{PM_OPERATOR_NAMES:-(.*)\}$/.exec(names ?? '') ?? [];
  expect(byDefault?.split(',')).toEqual([...new Set(named)]);
});

test('addresses that others trust are not given to other containers', () => {
  const { config } = compose.networks['exchange']?.ipam ?? { config: [] };
  expect(config).toEqual([{ subnet: '10.89.77.0/24', ip_range: '10.89.77.128/25' }]);
  const fixed = services.flatMap(([, { networks }]) =>
    networks.exchange === undefined ? [] : [networks.exchange.ipv4_address],
  );
  for (const address of fixed) expect(Number(address.split('.')[3])).toBeLessThan(128);
  const trusted = compose.services['ingress']?.environment?.['PM_TRUSTED_PROXIES'];
  expect(trusted?.split(',').sort()).toEqual(fixed.sort());
});

test('nothing but the public listener can be reached from other machines', () => {
  const published = services.flatMap(([name, { ports = [] }]) =>
    ports.map((port) => [name, port] as const),
  );
  for (const [name, port] of published)
    if (name !== 'gateway') expect([name, port]).toEqual([name, expect.stringMatching(/^127\./)]);
  expect(published.map(([name]) => name).sort()).toEqual([
    'gateway',
    'grafana',
    'operator',
    'prometheus',
  ]);
});

test('no file of the containers has a secret: set-up writes those of each service into its volume', () => {
  const keys = {
    rootKey: '1'.repeat(64),
    openingKey: '2'.repeat(64),
    authorityFile: '/authority.json',
    operatorSeed: '3'.repeat(64),
    ownerSeed: '4'.repeat(64),
    ingressSeed: '5'.repeat(64),
    ledgerSeed: '6'.repeat(64),
    keySecret: '7'.repeat(64),
    bookSecret: '8'.repeat(64),
    operatorToken: '9'.repeat(64),
  };
  for (const [service, variables] of Object.entries(serviceSecrets(keys))) {
    const { environment = {}, volumes = [] } = compose.services[service] ?? {};
    expect(Object.keys(variables).filter((name) => name in environment)).toEqual([]);
    expect(volumes).toContain(`secrets-${service}:/run/exchange:ro`);
  }
  const given = services.flatMap(([, { environment = {} }]) => Object.keys(environment));
  expect(given.filter((name) => /(PASSWORD|SECRET|SEED|TOKEN)$/.test(name))).toEqual([]);
});

test('the tools have the keys, the accounts and the store, and are started by hand alone', () => {
  const { profiles, volumes, environment } = compose.services['tools'] ?? {};
  expect(profiles).toEqual(['tools']);
  expect(volumes).toContain(`installation:${environment?.['PM_DATA']}`);
  expect(volumes).toContain('secrets-setup:/run/exchange:ro');
  const { matcher } = compose.services;
  expect(environment?.['PM_STORE_URL']).toBe(matcher?.environment?.['PM_STORE_URL']);
  expect(matcher?.volumes).toContain(volumes?.find((volume) => volume.startsWith('store:')));
});

test('no service gets the secrets of another', () => {
  const isService = (name: string) => !name.startsWith('setup-') && name !== 'tools';
  for (const [name, service] of ownServices.filter(([one]) => isService(one))) {
    const secrets = (service.volumes ?? []).filter((volume) => volume.startsWith('secrets-'));
    const own = programOf(service);
    const expected = ['mcp', 'gateway'].includes(own) ? [] : [`secrets-${own}:/run/exchange:ro`];
    expect([name, secrets]).toEqual([name, expected]);
  }
});

test('set-up has the volume of every secret, and each volume is declared and begins with the right owner', () => {
  const declared = Object.keys(compose.volumes).sort();
  const used = services.flatMap(([, { volumes = [] }]) =>
    volumes.map((volume) => volume.split(':')[0] ?? '').filter((name) => !name.startsWith('.')),
  );
  expect([...new Set(used)].sort()).toEqual(declared);
  const secrets = declared.filter((name) => name.startsWith('secrets-'));
  const setUp = compose.services['setup-exchange']?.volumes ?? [];
  const dockerfile = textOf('Dockerfile');
  const [, listed = ''] = /for name in ([a-z\s-]+);/.exec(dockerfile) ?? [];
  for (const volume of secrets) {
    const name = volume.slice('secrets-'.length);
    expect(setUp).toContain(`${volume}:/var/lib/exchange/secrets/${name}`);
    expect(listed.split(/\s+/)).toContain(name);
  }
});

test('the brokers have the settings of three local brokers', () => {
  const nodes = [1, 2, 3].map((id) => ({ id, port: 9092, controllerPort: 9093 }));
  const [first] = nodes;
  if (first === undefined) throw new RangeError('three brokers');
  const lines = kafkaSettings(first, nodes, '/var/lib/kafka/data').trim().split('\n');
  const isPlace = /listeners|voters|node\.id/;
  for (const number of [1, 2, 3]) {
    const { environment = {} } = compose.services[`kafka-${number}`] ?? {};
    for (const line of lines) {
      const [name = '', value = ''] = [
        line.slice(0, line.indexOf('=')),
        line.slice(line.indexOf('=') + 1),
      ];
      if (isPlace.test(name)) continue;
      expect([name, environment[kafkaVariable(name)]]).toEqual([name, value]);
    }
    expect(environment['KAFKA_NODE_ID']).toBe(String(number));
    expect(environment['KAFKA_ADVERTISED_LISTENERS']).toBe(`PLAINTEXT://kafka-${number}:9092`);
  }
});

test('Prometheus asks every service with a port for operators, with the rules of the local stack', () => {
  const configOf = (file: string) =>
    parse(textOf(`deploy/observability/${file}`)) as {
      readonly rule_files: readonly string[];
      readonly scrape_configs: readonly {
        readonly job_name: string;
        readonly static_configs: readonly { readonly targets: readonly string[] }[];
      }[];
    };
  const [ours, local] = [configOf('prometheus-containers.yml'), configOf('prometheus.yml')];
  const targets = ownServices.flatMap(([name, { environment = {} }]) =>
    environment['PM_OPS_PORT'] === undefined ? [] : [`${name}:${environment['PM_OPS_PORT']}`],
  );
  const [job] = ours.scrape_configs;
  expect([...(job?.static_configs[0]?.targets ?? [])].sort()).toEqual(targets.sort());
  expect([job?.job_name, ours.rule_files]).toEqual([
    local.scrape_configs[0]?.job_name,
    local.rule_files,
  ]);
});

describe('the image', () => {
  const rooms = ['kit', 'domain', 'ingress', 'matcher', 'projectors', 'query-api', 'mcp'];
  const sources = rooms.flatMap((room) =>
    readdirSync(join(repositoryRoot, room, 'src'), { recursive: true, encoding: 'utf8' })
      .filter((file) => file.endsWith('.ts'))
      .map((file) => ({ room, file, text: textOf(`${room}/src/${file}`) })),
  );

  test('has the files of all threads that programs start', () => {
    const named = sources.flatMap(({ room, file, text }) =>
      [...text.matchAll(/new URL\('(\.[^']+\.js)', import\.meta\.url\)/g)].map(([, path = '']) =>
        join(room, 'dist', file, '..', path),
      ),
    );
    expect(named.sort()).toEqual(Object.values(threads).sort());
  });

  test('has the folders that programs read beside their files', () => {
    const named = sources.flatMap(({ room, file, text }) =>
      [...text.matchAll(/new URL\('(\.[^']+\/)', import\.meta\.url\)/g)].map(([, path = '']) =>
        join(room, 'dist', file, '..', path).replace(/\/$/, ''),
      ),
    );
    expect(named.filter((folder) => !folders.includes(folder))).toEqual([]);
    for (const folder of folders.filter((one) => !one.endsWith('/dist')))
      expect([folder, existsSync(join(repositoryRoot, folder))]).toEqual([folder, true]);
  });

  test('has the packages whose binaries, or what serves without them, programs load by name', () => {
    const named = sources.flatMap(({ text }) =>
      [...text.matchAll(/\bload<.+?>\('([a-z0-9-]+)/g)].map(([, name = '']) => name),
    );
    expect([...new Set(named)].sort()).toEqual([...native].sort());
  });

  test('runs as another user than root, from one version of Node in both stages', () => {
    const lines = textOf('Dockerfile').split('\n');
    expect(lines.filter((line) => line.startsWith('FROM '))).toEqual([
      expect.stringContaining('NODE_IMAGE'),
      expect.stringContaining('NODE_IMAGE'),
    ]);
    expect(lines).toContain('USER 10001:10001');
  });
});
