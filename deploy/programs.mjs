// The programs of the exchange, and what each of them loads beside its bundle: what deploy/bundle.mjs bundles and what
// deploy/image.mjs puts into the image.

/** Where the bundles of programs and threads are, below the repository. */
export const bundleFolder = 'deploy/dist/programs';

/** Entry of each program by its name. */
export const programs = {
  ingress: 'ingress/dist/main.js',
  operator: 'operator/dist/main.js',
  matcher: 'matcher/dist/main.js',
  projectors: 'projectors/dist/main.js',
  'query-api': 'query-api/dist/main.js',
  streams: 'streams/dist/main.js',
  mcp: 'mcp/dist/main.js',
  gateway: 'gateway/dist/main.js',
  setup: 'deploy/dist/containers/main.js',
  demo: 'deploy/dist/demo/main.js',
  tools: 'operate/dist/main.js',
};

/**
 * Loaded from their packages by the few starts that need them: a new schema is registered, a store of S3 is opened,
 * traces are on.
 */
export const seldom = [
  '@kafkajs/confluent-schema-registry',
  '@aws-sdk/client-s3',
  '@opentelemetry/sdk-trace',
  '@opentelemetry/exporter-trace-otlp-http',
  '@opentelemetry/resources',
];

/** The engine that reads exports back: half a gigabyte, in the image only with `--with-export`. */
export const exporting = ['chdb'];

/** Packages with binaries or WebAssembly, which stay files. */
export const native = ['keccak', 'secp256k1', 'tiny-secp256k1'];

/** Entry of each thread by its name: programs open the bundle of it, which is beside theirs. */
export const threads = {
  'signature-worker': 'ingress/dist/orders/signature-worker.io.js',
  'state-encoder-thread': 'matcher/dist/partition/state-encoder-thread.io.js',
};

/** Folders that programs read: the console, the pages of the MCP server, the recordings of the demo. */
export const folders = ['console/dist', 'mcp/documents', 'deploy/data'];
