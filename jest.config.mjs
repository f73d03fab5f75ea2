const rooms = [
  'schemas',
  'kit',
  'domain',
  'ingress',
  'operator',
  'matcher',
  'projectors',
  'query-api',
  'streams',
  'gateway',
  'client',
  'mcp',
  'console',
  'deploy',
  'operate',
  'acceptance',
  'bench',
  'simulator',
  'tools',
];

// Sources are ES modules; tests run them as CommonJS, so packages published as ES modules only go through the transform,
// and one that loads modules of Node by `import()`.
const esmOnly = [
  'typebox',
  '@fastify/type-provider-typebox',
  '@noble',
  'execa',
  'jose',
  'eventsource',
  'eventsource-parser',
  'pkce-challenge',
  '@apidevtools/json-schema-ref-parser',
  '@opentelemetry/otlp-exporter-base',
];

const shared = {
  rootDir: '.',
  roots: rooms.map((room) => `<rootDir>/${room}`),
  testEnvironment: '<rootDir>/deploy/test/one-environment.cjs',
  runtime: '<rootDir>/deploy/test/shared-modules.cjs',
  transform: {
    '^.+\\.(t|j|mj)s$': [
      '@swc/jest',
      { jsc: { target: 'es2022', parser: { syntax: 'typescript' } }, module: { type: 'commonjs' } },
    ],
  },
  transformIgnorePatterns: [`/node_modules/(?!(${esmOnly.join('|')})/)`],
  moduleNameMapper: {
    '^@pm/(schemas|domain|operator|streams|gateway|deploy|operate|acceptance|mcp)/(.*)$':
      '<rootDir>/$1/src/$2.ts',
    '^@pm/kit/(.*)$': '<rootDir>/kit/src/$1/index.ts',
    '^@pm/([a-z-]+)$': '<rootDir>/$1/src/index.ts',
  },
  modulePathIgnorePatterns: [
    '<rootDir>/.*/dist/',
    '<rootDir>/acceptance/clients/',
    '<rootDir>/data/',
  ],
  extensionsToTreatAsEsm: [],
};

export default {
  // No test is judged by a clock; this only ends what hangs. Tests that need longer say so.
  testTimeout: 60_000,
  // Bounds the memory of a worker: the next one loads the shared modules again.
  workerIdleMemoryLimit: '1GB',
  testSequencer: '<rootDir>/deploy/test/longest-first.mjs',
  projects: [
    {
      ...shared,
      displayName: 'unit',
      testMatch: ['**/test/**/*.test.ts'],
      testPathIgnorePatterns: [
        '\\.engine\\.test\\.ts$',
        '<rootDir>/simulator/',
        '<rootDir>/kit/test/kafka/net/',
        '/node_modules/',
        '/dist/',
      ],
    },
    {
      ...shared,
      displayName: 'simulator',
      testMatch: [
        '<rootDir>/simulator/test/**/*.test.ts',
        '<rootDir>/kit/test/kafka/net/*.test.ts',
      ],
    },
    {
      ...shared,
      displayName: 'engines',
      testMatch: ['**/test/**/*.engine.test.ts'],
      globalSetup: '<rootDir>/deploy/test/engines-setup.ts',
      globalTeardown: '<rootDir>/deploy/test/engines-teardown.ts',
    },
  ],
};
