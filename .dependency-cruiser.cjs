// Who may know whom (docs/hacking.md). A rule here is changed by changing the design, not by an exception.
const services = 'ingress|operator|matcher|projectors|query-api|streams|gateway';

/** Rooms whose files are named by their endings (docs/hacking.md, Rooms). */
const byEnding = require('./tools/rooms-by-ending.json').join('|');

/** Files that wait, read clocks or do I/O, and the wiring of rooms; other packages are seen as their built declarations. */
const impure =
  '\\.(io|route)\\.(ts|d\\.ts)$|^[a-z-]+/(src|dist)/(main|config|metrics)\\.(ts|d\\.ts)$';

const pure = {
  path: `^(${byEnding})/src/`,
  pathNot: [impure, '^kit/src/[a-z]+/index\\.ts$'],
};

/** Folders of kit that a pure file may use. */
const pureKit = '(assert|fault|random)/';

/** @type {import('dependency-cruiser').IConfiguration} */
module.exports = {
  forbidden: [
    { name: 'no-cycles', severity: 'error', from: {}, to: { circular: true } },
    {
      name: 'schemas-import-no-room',
      severity: 'error',
      from: { path: '^schemas/src' },
      to: {
        path: '^(kit|domain|client|mcp|deploy|operate|acceptance|bench|ingress|operator|matcher|projectors|query-api|streams|gateway)/',
      },
    },
    {
      name: 'kit-knows-schemas-only',
      severity: 'error',
      from: { path: '^kit/src' },
      to: {
        path: '^(domain|client|mcp|deploy|operate|acceptance|bench|ingress|operator|matcher|projectors|query-api|streams|gateway)/',
      },
    },
    {
      name: 'domain-knows-kit-and-schemas',
      severity: 'error',
      from: { path: '^domain/src' },
      to: {
        path: '^(client|mcp|deploy|operate|acceptance|bench|ingress|operator|matcher|projectors|query-api|streams|gateway)/',
      },
    },
    {
      name: 'client-knows-schemas-only',
      severity: 'error',
      from: { path: '^client/src' },
      to: {
        path: '^(kit|domain|mcp|deploy|operate|acceptance|bench|ingress|operator|matcher|projectors|query-api|streams|gateway)/',
      },
    },
    {
      name: 'mcp-knows-client-and-kit',
      comment: 'the MCP server is a client of the public API: it knows nothing of the services',
      severity: 'error',
      from: { path: '^mcp/src' },
      to: { path: `^(domain|deploy|operate|acceptance|bench|${services})/` },
    },
    {
      name: 'console-knows-client-and-schemas',
      severity: 'error',
      from: { path: '^console/src' },
      to: {
        path: '^(kit|domain|deploy|operate|acceptance|bench|ingress|operator|matcher|projectors|query-api|streams|gateway)/',
      },
    },
    {
      name: 'rooms-do-not-know-the-console',
      severity: 'error',
      from: { path: '^[a-z-]+/src', pathNot: '^console/' },
      to: { path: '^console/' },
    },
    {
      name: 'no-service-imports-another',
      severity: 'error',
      from: { path: `^(${services})/src` },
      to: { path: `^(${services}|deploy|operate|acceptance|bench|client|mcp)/`, pathNot: '^$1/' },
    },
    {
      name: 'deploy-operate-acceptance',
      comment: 'what starts an installation knows nothing of what judges it',
      severity: 'error',
      from: { path: '^deploy/src' },
      to: { path: '^(operate|acceptance|bench)/' },
    },
    {
      name: 'operate-knows-no-acceptance',
      severity: 'error',
      from: { path: '^operate/src' },
      to: { path: '^(acceptance|bench)/' },
    },
    {
      name: 'core-is-pure',
      comment:
        'the core of the matcher imports money, refusals and the records of the log, pure files of domain and its own folder: no kit, no packages',
      severity: 'error',
      from: { path: '^matcher/src/core' },
      to: {
        pathNot: [
          '^matcher/src/core',
          '^schemas/dist/(money|refusals|avro/[a-z-]+|log/[a-z-]+)\\.',
          '^domain/dist/(?!.*\\.io\\.)',
        ],
      },
    },
    {
      name: 'pure-knows-no-io',
      comment: 'a pure file imports no .io or .route file and no wiring, not even their types',
      severity: 'error',
      from: pure,
      to: { path: impure },
    },
    {
      name: 'pure-knows-pure-kit-only',
      comment: 'of kit a pure file uses assert, fault and random',
      severity: 'error',
      from: { ...pure, pathNot: [...pure.pathNot, '^kit/'] },
      to: { path: `^kit/(src|dist)/(?!${pureKit})` },
    },
    {
      name: 'pure-kit-knows-pure-kit-only',
      comment:
        'a pure file of kit reads other folders by their pure files or by the folders that are pure',
      severity: 'error',
      from: { ...pure, path: '^kit/src/' },
      to: { path: `^kit/src/(?!${pureKit})[a-z]+/index\\.ts$` },
    },
    {
      name: 'pure-knows-no-node',
      comment: 'a pure file has no modules of Node but those that only compute',
      severity: 'error',
      from: pure,
      to: { dependencyTypes: ['core'], pathNot: '^(node:)?(crypto|buffer|util)$' },
    },
    {
      name: 'pure-knows-no-io-packages',
      severity: 'error',
      from: { ...pure, pathNot: [...pure.pathNot, '^kit/'] },
      to: {
        path: 'node_modules/(@clickhouse|@fastify|fastify|@modelcontextprotocol|ioredis|kafkajs|pino|prom-client)/',
      },
    },
    {
      name: 'sources-do-not-know-tests',
      severity: 'error',
      from: { path: '^[a-z-]+/src' },
      to: { path: '^[a-z-]+/test' },
    },
    {
      name: 'models-are-for-tests',
      comment: 'a model in domain/src/testing judges the code that runs; it never runs itself',
      severity: 'error',
      from: { path: '^[a-z-]+/src/', pathNot: '^domain/src/testing/' },
      to: { path: '^domain/(src|dist)/testing/' },
    },
    {
      name: 'not-to-dev-dependencies',
      severity: 'error',
      from: {
        path: '^(schemas|kit|domain|client|mcp|ingress|operator|matcher|projectors|query-api|streams|gateway)/src',
      },
      to: { dependencyTypes: ['npm-dev', 'npm-no-pkg', 'npm-unknown'] },
    },
    { name: 'resolvable', severity: 'error', from: {}, to: { couldNotResolve: true } },
    {
      name: 'no-utility-folders',
      severity: 'error',
      from: {},
      to: { path: '/(utils?|common|helpers?|misc)(\\.ts|/)', pathNot: 'node_modules' },
    },
  ],
  options: {
    doNotFollow: { path: ['node_modules', '/dist/'] },
    // The parser reads no JSX; knip reports a package that the console does not list.
    exclude: { path: ['^acceptance/clients/', '\\.tsx$'] },
    tsPreCompilationDeps: true,
    parser: 'swc',
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['types', 'import', 'require', 'node', 'default'],
      extensions: ['.ts', '.js', '.mjs', '.json'],
    },
  },
};
