import { mkdirSync, rmSync } from 'node:fs';
import { createServer, request } from 'node:http';
import { join, resolve } from 'node:path';
import { guardServer } from '@pm/kit/listener';
import type { InstallationNames } from '../installation/read-addresses.ts';
import type { EngineUrls } from '../local/engines.ts';
import type { ProcessStatus } from '../local/supervised-process.ts';
import { withoutAccounts } from '../local/without-account.ts';
import type { EngineMode } from './mode.ts';
import type { ShownStack } from './stack.ts';

/** Status of a running stack. */
export interface StackStatus {
  readonly pid: number;
  readonly baseUrl: string;
  readonly logDir: string;
  /** Without accounts, unless they were asked for. */
  readonly urls: EngineUrls;
  readonly names: InstallationNames;
  /** Whether the engines belong to this stack. */
  readonly engines: EngineMode['kind'];
  /** Whether `npm start` has not shown its first screen yet; services may be late after that. */
  readonly isStarting: boolean;
  readonly processes: readonly ProcessStatus[];
}

export interface Control {
  close(): Promise<void>;
}

const responseTimeoutMs = 3_000;

/** Whoever connects to the engines asks for the addresses with the accounts in them. */
const paths = { plain: '/', withAccounts: '/with-accounts' } as const;

/** A socket in the data folder: its permissions are those of the folder. */
function socketPath(dataDir: string): string {
  return join(resolve(dataDir), 'stack.sock');
}

/** Opens the socket for `stackStatus`. */
export async function openControl(
  dataDir: string,
  stack: ShownStack,
  isStarting: () => boolean,
): Promise<Control> {
  const path = socketPath(dataDir);
  mkdirSync(resolve(dataDir), { recursive: true });
  rmSync(path, { force: true });
  const server = createServer(({ url }, response) => {
    const status: StackStatus = {
      pid: process.pid,
      baseUrl: stack.baseUrl,
      logDir: stack.logDir,
      urls: url === paths.withAccounts ? stack.urls : withoutAccounts(stack.urls),
      names: stack.names,
      engines: stack.engines,
      isStarting: isStarting(),
      processes: stack.supervisor.status(),
    };
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify(status));
  });
  guardServer(server);
  await new Promise<void>((done, failed) => {
    server.once('error', failed);
    server.listen(path, done);
  });
  server.unref();
  return {
    close: () =>
      new Promise((done) => {
        server.close(() => done());
      }),
  };
}

/** Status of the stack on a data folder; null when none runs. */
export function stackStatus(
  dataDir: string,
  addresses: keyof typeof paths = 'plain',
): Promise<StackStatus | null> {
  return new Promise((done) => {
    const sent = request({
      socketPath: socketPath(dataDir),
      path: paths[addresses],
      timeout: responseTimeoutMs,
    });
    sent.on('response', (response) => {
      let text = '';
      response.setEncoding('utf8');
      response.on('data', (part: string) => {
        text += part;
      });
      response.on('end', () => done(JSON.parse(text) as StackStatus));
    });
    sent.on('timeout', () => sent.destroy());
    sent.on('error', () => done(null));
    sent.end();
  });
}
