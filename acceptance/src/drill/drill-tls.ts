import { copyFileSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { loopback, type Ports } from '@pm/deploy/local/ports';
import type { ExtraEnv } from '@pm/deploy/stack/services';
import { type Certificates, makeCertificates } from '../faults/certificates.ts';
import { openTlsFront } from '../faults/tls-front.ts';

/** TLS between the projectors of an exchange under drill and its ClickHouse, which has none. */
export interface DrillTls {
  readonly certificates: Certificates;
  /** The authorities that the projectors trust. */
  readonly authorityFile: string;
  /** Variables with which the projectors use it. */
  readonly env: ExtraEnv;
  /** Puts the right authorities there. */
  reset(): void;
  close(): Promise<void>;
}

/** `folder`: for its files, made here. */
export async function openDrillTls(folder: string, ports: Ports): Promise<DrillTls> {
  mkdirSync(folder);
  const certificates = makeCertificates(folder);
  const authorityFile = join(folder, 'trusted.pem');
  const reset = () => copyFileSync(certificates.caFile, authorityFile);
  reset();
  const front = await openTlsFront(`http://${loopback}:${ports.clickhouse}`, certificates);
  const env = {
    projectors: { PM_CLICKHOUSE_URL: front.url, PM_CLICKHOUSE_TLS_CA: authorityFile },
  };
  return { certificates, authorityFile, env, reset, close: () => front.close() };
}
