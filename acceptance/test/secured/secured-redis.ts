import { spawn } from 'node:child_process';
import { mkdirSync, openSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ensureEngineJars } from '@pm/deploy/local/engines/download-engines';
import { defaultCacheDir } from '@pm/deploy/local/paths';
import { holdFreePorts } from '@pm/deploy/local/ports';
import type { Certificates } from '../../src/faults/certificates.ts';
import { stopProcess } from './secured-kafka.ts';

export interface SecuredRedis {
  /** rediss:// */
  readonly url: string;
  stop(): Promise<void>;
}

/** A Redis with TLS and users; no port without TLS. `aclLines` are lines of its ACL file. `name`: of several. */
export async function startSecuredRedis(
  folder: string,
  certificates: Certificates,
  aclLines: readonly string[],
  name = 'redis',
): Promise<SecuredRedis> {
  const jars = await ensureEngineJars(defaultCacheDir, () => {});
  if (jars.bundledRedis === undefined)
    throw new Error('no Redis with TLS is bundled for this machine');
  const held = await holdFreePorts(1);
  await held.release();
  const port = held.ports[0] ?? 0;
  const dir = join(folder, name);
  mkdirSync(dir, { recursive: true });
  const aclFile = join(dir, 'users.acl');
  writeFileSync(aclFile, `${aclLines.join('\n')}\n`, { mode: 0o600 });
  const settings = {
    port: '0',
    'tls-port': String(port),
    'tls-cert-file': certificates.certFile,
    'tls-key-file': certificates.keyFile,
    'tls-ca-cert-file': certificates.caFile,
    'tls-auth-clients': 'no',
    aclfile: aclFile,
    bind: '127.0.0.1',
    save: '',
    dir,
  };
  const output = openSync(join(dir, 'output.log'), 'w');
  const args = Object.entries(settings).flatMap(([name, value]) => [`--${name}`, value]);
  const child = spawn(jars.bundledRedis, args, { stdio: ['ignore', output, output] });
  return { url: `rediss://127.0.0.1:${port}`, stop: () => stopProcess(child) };
}
