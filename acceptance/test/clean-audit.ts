import { findInstallation } from '@pm/deploy/installation/addresses';
import { openInstallation } from '@pm/deploy/installation/open';
import { type AuditCheck, runAudit } from '@pm/operate/audit/run-audit';
import { namesOf } from './services-under-test.ts';
import type { WholeExchange } from './whole-exchange.ts';

/** Longest wait for projections to come to the end of the log, milliseconds. */
const waitMs = 120_000;

/** Where tools find the exchange. */
export function variablesOfWhole(exchange: WholeExchange): Readonly<Record<string, string>> {
  const { kafka, registry, clickhouse, redis } = exchange.urls;
  return {
    ...namesOf(exchange.name),
    PM_KAFKA_BROKERS: kafka,
    PM_REGISTRY_URL: registry,
    PM_CLICKHOUSE_URL: clickhouse,
    PM_REDIS_URL: redis,
    PM_ROOT_KEY: exchange.keys.rootKey,
  };
}

/** Resolves when the audit finds log, tables, books and ledger right; fails with the checks that do not hold. */
export async function expectCleanAudit(exchange: WholeExchange, seed: number): Promise<void> {
  const addresses = await findInstallation(variablesOfWhole(exchange), '');
  const installation = openInstallation(addresses, 'audited');
  const checks: AuditCheck[] = [];
  const holds = await runAudit(installation, {
    waitMs,
    seed,
    onProgress: () => {},
    onCheck: (check) => checks.push(check),
  }).finally(() => installation.close());
  expect(checks.filter(({ wrong }) => wrong.length > 0)).toEqual([]);
  expect(holds).toBe(true);
}
