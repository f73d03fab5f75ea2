import { openLogClient } from '@pm/kit/kafka';
import { silentLog } from '@pm/kit/log';
import type { Accident } from '../accident.ts';
import { type DrilledExchange, services } from '../drilled-exchange.ts';

const state = 'registry';

/** Where Apicurio keeps its schemas (apicurio.storage.kind=kafkasql). */
const registryTopics = ['kafkasql-journal', 'kafkasql-snapshots', 'registry-events'];
/** Schemas of the other installation, at least one under an id of this one. */
const otherSchemas = 5;

async function empty(exchange: DrilledExchange): Promise<void> {
  const { urls } = exchange.stack;
  const client = openLogClient({ brokers: [urls.kafka], clientId: 'drill', log: silentLog });
  const admin = await client.admin();
  await exchange.without(['registry'], async () => {
    for (const topic of registryTopics)
      if (await admin.hasTopic(topic)) await admin.deleteTopic(topic);
  });
  await client.close();
}

async function fillWithOthers({ stack }: DrilledExchange): Promise<void> {
  for (let number = 0; number < otherSchemas; number += 1) {
    const name = `Other${number}`;
    const schema = JSON.stringify({ type: 'record', name, fields: [] });
    const response = await fetch(`${stack.urls.registry}/subjects/other-${number}/versions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ schema }),
    });
    if (!response.ok) throw new Error(`registry: ${response.status} ${await response.text()}`);
  }
}

/** One process after the other, as an upgrade does it. */
async function restartServices(exchange: DrilledExchange): Promise<void> {
  for (const name of services) await exchange.stack.supervisor.restart(name);
}

export const registryAccidents: readonly Accident[] = [
  {
    state,
    done: 'lost, then all services restarted, then `npm start`',
    says: 'put back into the registry',
    wayBack: null,
    carryOut: async (exchange) => {
      await empty(exchange);
      await restartServices(exchange);
      await exchange.restart();
    },
  },
  {
    state,
    done: 'filled with schemas of others',
    says: 'registry_foreign',
    wayBack: 'an empty one, then `npm start` again',
    carryOut: async (exchange) => {
      await empty(exchange);
      await fillWithOthers(exchange);
      await exchange.restart();
    },
    bringBack: async (exchange) => {
      await empty(exchange);
      await exchange.restart();
    },
  },
];
