import { createHash, randomBytes } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import {
  type ManagedProcess,
  mebibyte,
  type Progress,
  processEnvironment,
} from '../managed-process.ts';
import { deployRoot } from '../paths.ts';
import { loopback } from '../ports.ts';
import { askPort } from '../probes.ts';
import { type Digests, parseDigests, requireDigests } from './digests.ts';
import { maven } from './download-engines.ts';
import { javaCommand, requireJavaTools } from './java-tools.ts';

const pomFile = join(deployRoot, 'local', 'store-server-pom.xml');
const digestsFile = join(deployRoot, 'local', 'store-server.sha256');
const stampName = '.fetched-from';

/** SHA-256 of every file of the server, by its name. */
export function pinnedStoreServer(): Digests {
  return parseDigests(readFileSync(digestsFile, 'utf8'));
}

/**
 * Fetches S3Proxy from Maven Central into `<cacheDir>/store-server`, once; returns the folder of its jars. Only tests
 * use it. Throws a `StackError` TOOL_MISSING or FETCH_FAILED.
 */
export async function ensureStoreServer(cacheDir: string, progress: Progress): Promise<string> {
  const target = join(cacheDir, 'store-server');
  const stamp = join(target, stampName);
  const mark = [pomFile, digestsFile].map((file) =>
    createHash('sha256').update(readFileSync(file)).digest('hex'),
  );
  const isComplete = existsSync(stamp) && readFileSync(stamp, 'utf8') === mark.join(' ');
  await requireJavaTools(!isComplete, progress);
  if (isComplete) return target;
  const work = join(cacheDir, `store-server.fetch-${process.pid}`);
  await mkdir(work, { recursive: true });
  try {
    progress('fetching S3Proxy from Maven Central (once)');
    await maven(['-f', pomFile, `-Dengines.dir=${work}`, 'package'], cacheDir);
    await requireDigests(work, pinnedStoreServer(), digestsFile);
    await writeFile(join(work, stampName), mark.join(' '));
    await rm(target, { recursive: true, force: true });
    await rename(work, target);
  } finally {
    await rm(work, { recursive: true, force: true });
  }
  return target;
}

/** A store for tests: its one account, and its objects as files below a folder. */
export interface StoreServer {
  readonly process: ManagedProcess;
  readonly endpoint: string;
  readonly bucket: string;
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
}

/** Without it the server writes a line for each step of each connection. */
const logSettings = `<configuration>
  <appender name="console" class="ch.qos.logback.core.ConsoleAppender">
    <encoder><pattern>%d %-5level %logger{0} %msg%n</pattern></encoder>
  </appender>
  <root level="warn"><appender-ref ref="console"/></root>
</configuration>
`;

/** S3Proxy on a folder. Buckets are folders directly below it. */
export function storeServer(options: {
  readonly libDir: string;
  readonly dataDir: string;
  readonly logDir: string;
  readonly port: number;
}): StoreServer {
  const { libDir, dataDir, logDir, port } = options;
  const bucket = 'exchange';
  const accessKeyId = 'exchange';
  const secretAccessKey = randomBytes(24).toString('hex');
  const endpoint = `http://${loopback}:${port}`;
  const folder = join(dataDir, 'store-server');
  const settings = join(folder, 's3proxy.conf');
  const buckets = join(folder, 'buckets');
  const logFile = join(folder, 'logback.xml');
  const lines = [
    `s3proxy.endpoint=${endpoint}`,
    's3proxy.authorization=aws-v2-or-v4',
    `s3proxy.identity=${accessKeyId}`,
    `s3proxy.credential=${secretAccessKey}`,
    // A body whose hash is signed is held in memory until the hash was compared.
    `s3proxy.v4-max-non-chunked-request-size=${256 * mebibyte}`,
    'jclouds.provider=filesystem-nio2',
    `jclouds.filesystem.basedir=${buckets}`,
    'jclouds.identity=unused',
    'jclouds.credential=unused',
  ];
  const process: ManagedProcess = {
    name: 'store',
    command: javaCommand(),
    args: [
      '-Xmx768m',
      `-Dlogback.configurationFile=${logFile}`,
      '-cp',
      join(libDir, '*'),
      'org.gaul.s3proxy.Main',
      '--properties',
      settings,
    ],
    env: processEnvironment(),
    cwd: folder,
    logFile: join(logDir, 'store.log'),
    dependsOn: [],
    ports: [port],
    restart: false,
    stopSignal: 'SIGTERM',
    stopTimeoutMs: 10_000,
    readyTimeoutMs: 60_000,
    memoryHintBytes: 300 * mebibyte,
    watchesStdin: false,
    prepare: async () => {
      await mkdir(join(buckets, bucket), { recursive: true });
      await writeFile(logFile, logSettings);
      await writeFile(settings, `${lines.join('\n')}\n`, { mode: 0o600 });
    },
    ready: async () => {
      await askPort(port, Buffer.from('GET / HTTP/1.0\r\n\r\n'));
    },
  };
  return { process, endpoint, bucket, accessKeyId, secretAccessKey };
}
