import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startEngines } from '@pm/deploy/local/engines';
import type { ManagedProcess } from '@pm/deploy/local/managed-process';
import { freePorts } from '@pm/deploy/local/ports';
import { setUpExchange } from '@pm/deploy/setup/exchange-setup';
import { type ExchangeKeys, loadOrMakeKeys } from '@pm/deploy/setup/keys';
import { exchangeServices } from '@pm/deploy/stack/services';
import type { LogPlace } from './log.ts';

export interface Installation {
  readonly place: LogPlace;
  readonly keys: ExchangeKeys;
  readonly dataDir: string;
  /** The matcher as the stack would start it. */
  readonly matcher: ManagedProcess;
  /** Processor seconds of the broker so far. */
  brokerCpuSeconds(): number;
  stop(): Promise<void>;
}

const database = 'pm';

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
    const { urls } = engines;
    const keys = loadOrMakeKeys(join(dataDir, 'keys.json'));
    const shared = { urls, keys, database, topicPrefix: '' };
    await setUpExchange({ ...shared, partitions: 1, replicationFactor: 1, progress });
    const services = exchangeServices({ ...shared, ports, dataDir, logDir, engines: [] });
    const matcher = services.find((service) => service.name === 'matcher');
    if (matcher === undefined) throw new Error('the stack has a matcher');
    const broker = () => engines.supervisor.status().find((one) => one.name === 'kafka');
    return {
      place: { brokers: urls.kafka, registry: urls.registry },
      keys,
      dataDir,
      matcher,
      brokerCpuSeconds: () => broker()?.cpuSeconds ?? 0,
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}
