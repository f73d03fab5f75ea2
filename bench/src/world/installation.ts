import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { addressesOf } from '@pm/deploy/installation/read-addresses';
import { type EngineUrls, startEngines } from '@pm/deploy/local/engines';
import type { ManagedProcess } from '@pm/deploy/local/managed-process';
import { freePorts, loopback } from '@pm/deploy/local/ports';
import { setUpExchange } from '@pm/deploy/setup/exchange-setup';
import { type ExchangeKeys, loadOrMakeKeys } from '@pm/deploy/setup/keys';
import { exchangeServices } from '@pm/deploy/stack/services';
import { defaultFeeWallet } from '@pm/domain/accounts/reserved-addresses';
import { clickhouseAccount } from '@pm/kit/config';
import { streamPaths } from '@pm/schemas/streams/channels';
import type { LogPlace } from '../partition/log.ts';

export interface Installation {
  readonly place: LogPlace;
  readonly urls: EngineUrls;
  /** Address and account of the tables. */
  readonly tables: ReturnType<typeof clickhouseAccount>;
  readonly keys: ExchangeKeys;
  readonly dataDir: string;
  /** A service as the stack would start it, with these variables besides its own. */
  service(name: string, env?: Readonly<Record<string, string>>): ManagedProcess;
  /** Address of `/status` and `/metrics` of projectors. */
  readonly projectorsUrl: string;
  /** Address of `/v1/stream` of the stream service. */
  readonly streamUrl: string;
  /** Processor seconds of an engine so far. */
  cpuSecondsOf(engine: 'kafka' | 'clickhouse' | 'redis'): number;
  stop(): Promise<void>;
}

/** Engines on free ports in a temporary folder, set up with one matching partition; no service runs. */
export async function openInstallation(): Promise<Installation> {
  const dataDir = mkdtempSync(join(tmpdir(), 'pm-bench-'));
  const logDir = join(dataDir, 'logs');
  mkdirSync(logDir);
  const ports = await freePorts();
  const progress = (line: string) => console.error(line);
  const engines = await startEngines({ dataDir, logDir, ports, progress });
  const stop = async () => {
    await engines.stop();
    rmSync(dataDir, { recursive: true, force: true });
  };
  try {
    const { urls, access } = engines;
    const keys = loadOrMakeKeys(join(dataDir, 'keys.json'));
    const shared = { urls, access, keys, feeWallet: defaultFeeWallet };
    await setUpExchange({ ...shared, partitions: 1, replicationFactor: 1, progress });
    const services = exchangeServices({
      ...shared,
      ports,
      dataDir,
      logDir,
      replicationMin: 1,
      engines: [],
    });
    return {
      place: { brokers: urls.kafka, rootKey: keys.rootKey },
      urls,
      tables: clickhouseAccount(addressesOf(urls, access)),
      keys,
      dataDir,
      service(name, env = {}) {
        const found = services.find((service) => service.name === name);
        if (found === undefined) throw new Error(`the stack has no ${name}`);
        return { ...found, env: { ...found.env, ...env } };
      },
      projectorsUrl: `http://${loopback}:${ports.projectorsOps}`,
      streamUrl: `ws://${loopback}:${ports.streams}${streamPaths.own}`,
      cpuSecondsOf: (engine) =>
        engines.supervisor.status().find((one) => one.name === engine)?.cpuSeconds ?? 0,
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}
