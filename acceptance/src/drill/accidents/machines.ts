import { setTimeout as wait } from 'node:timers/promises';
import { mebibyte } from '@pm/deploy/local/managed-process';
import type { Accident } from '../accident.ts';
import { type DrilledExchange, services } from '../drilled-exchange.ts';
import { resizeDisk, usedBytes } from '../mounts.ts';

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
/** How long a machine does nothing at all, milliseconds; the clock says that it was an hour. */
const suspendedMs = 60_000;

/** A disk cannot be made smaller than what it has, and that grows. */
const spareBytes = 2 * mebibyte;

const all = ({ stack }: DrilledExchange) => stack.supervisor.status().map(({ name }) => name);

function signal(exchange: DrilledExchange, name: NodeJS.Signals): void {
  for (const process of all(exchange)) exchange.stack.supervisor.kill(process, name);
}

async function setClocks({ clocks }: DrilledExchange, offsetMs: number): Promise<void> {
  await Promise.all(services.map((name) => clocks.set(name, offsetMs)));
}

const clockSet = (done: string, offsetMs: number, says: string): Accident => ({
  state: 'clock of all services',
  done,
  says,
  wayBack: 'set it right',
  carryOut: (exchange) => setClocks(exchange, offsetMs),
  bringBack: (exchange) => setClocks(exchange, 0),
});

export const machineAccidents: readonly Accident[] = [
  {
    state: 'machine',
    done: 'power lost: every process killed at once',
    says: null,
    wayBack: null,
    carryOut: async (exchange) => signal(exchange, 'SIGKILL'),
  },
  {
    state: 'machine',
    done: 'suspended',
    says: null,
    wayBack: null,
    carryOut: async (exchange) => {
      signal(exchange, 'SIGSTOP');
      await wait(suspendedMs);
      signal(exchange, 'SIGCONT');
    },
  },
  // Brokers take records that are ahead by an hour at most.
  clockSet('a day ahead', dayMs, 'INVALID_TIMESTAMP'),
  clockSet('a day behind', -dayMs, 'too_late'),
  {
    state: 'disk',
    done: 'full, that of everything',
    says: 'ENOSPC',
    wayBack: 'free some of it, then `npm start` again',
    mounts: true,
    carryOut: async (exchange) => {
      const { data } = exchange.folders;
      await resizeDisk(data, usedBytes(data) + spareBytes);
    },
    bringBack: async (exchange) => {
      await resizeDisk(exchange.folders.data, exchange.diskBytes);
      await exchange.restart();
    },
  },
];
