import { copyFileSync, rmSync } from 'node:fs';
import type { Accident } from '../accident.ts';
import type { DrilledExchange } from '../drilled-exchange.ts';

const service = 'projectors';

/** Puts another file in the place of the authorities of ClickHouse, or none; the service reads it when it starts. */
function startWith({ tls, stack }: DrilledExchange, file: string | null): void {
  if (file === null) rmSync(tls.authorityFile);
  else copyFileSync(file, tls.authorityFile);
  stack.supervisor.kill(service, 'SIGKILL');
}

const authorities = {
  state: 'TLS files',
  wayBack: 'the right file, then a restart of the service',
  bringBack: async (exchange: DrilledExchange) =>
    startWith(exchange, exchange.tls.certificates.caFile),
};

export const tlsAccidents: readonly Accident[] = [
  {
    ...authorities,
    done: 'authorities of ClickHouse lost',
    says: 'PM_CLICKHOUSE_TLS_CA',
    carryOut: async (exchange) => startWith(exchange, null),
  },
  {
    ...authorities,
    done: 'authorities of ClickHouse of another installation',
    says: 'unable to verify the first certificate',
    carryOut: async (exchange) => startWith(exchange, exchange.tls.certificates.otherCaFile),
  },
];
